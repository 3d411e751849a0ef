// Submatrices of atoms by bond order: what they hold, when they change, and what they cost in forces and in energy
// conservation.
#include <fmt/format.h>

#include <iostream>
#include <span>

#include "core/parallel/random.hpp"
#include "plugins/submatrix/potentials/tight_binding.hpp"
#include "tests/catch.hpp"
#include "tests/periodic.hpp"
#include "tests/plugins/md/potential_check.hpp"

using namespace cambium;
using namespace cambium::submatrix;
using cambium::test::Evaluation;
using cambium::test::PeriodicSystem;
using cambium::test::Position;

namespace {

struct Element {
  const char* symbol;
  double mass, lattice, list;  ///< g/mol; Å; reach of a neighbour list of cut-off and skin
};
constexpr Element carbon{"C", 12.011, 3.556, 3.1}, silicon{"Si", 28.0855, 5.431, 3.7};

/// Diamond, cells^3 cubic cells, each coordinate moved by up to noise.
struct Diamond {
  Element element;
  Box box;
  std::vector<Position> x;

  Diamond(int cells, double noise, const Element& of = carbon)
      : element(of), box(Box::orthogonal(cells * of.lattice, cells * of.lattice, cells * of.lattice)) {
    const double fcc[4][3] = {{0, 0, 0}, {0.5, 0.5, 0}, {0.5, 0, 0.5}, {0, 0.5, 0.5}};
    for (int c = 0; c < 8 * cells * cells * cells; ++c) {
      const int cell[3] = {c / 8 / cells / cells, c / 8 / cells % cells, c / 8 % cells};
      const Random4 random(5, Stream::lattice_noise, static_cast<std::uint64_t>(c), 0);
      Position p;
      for (std::size_t k = 0; k < 3; ++k)
        p[k] = of.lattice * (cell[k] + fcc[c % 8 / 2][k] + 0.25 * (c % 2)) +
               noise * random.uniform(static_cast<int>(k));  // inside the cell
      x.push_back(p);
    }
  }
  PeriodicSystem system() const { return {box, x, {}, element.list, {{element.symbol, element.mass}}}; }
};

struct Run {
  PeriodicSystem system;
  TightBinding potential;
  NeighborList list;
  test::World& world;
  double mass = 0.0;  ///< eV ps^2/A^2

  Run(const Diamond& crystal, const TightBinding::Params& params, test::World& w)
      : system(crystal.system()), potential(params, w.context), world(w) {
    const std::vector<Species> species{{crystal.element.symbol, crystal.element.mass}};
    potential.bind(species);
    mass = crystal.element.mass * 1.0364269e-4;
    build_neighbors(system.particles, potential.cutoff(), 0.5, list);
  }
  Evaluation operator()() { return test::evaluate(potential, system, list, world, {true, false}); }
  Evaluation at(const std::vector<Position>& x) {
    system.update(x);
    return (*this)();
  }
};

TightBinding::Params by_eps(double eps, double skin = 0.5) {
  TightBinding::Params params;
  params.eps = eps;
  params.skin = skin;
  params.krylov_tolerance = 1e-5;
  return params;
}

struct ForceError {
  double largest = 0.0, rms = 0.0;
};

ForceError difference(const Evaluation& a, const Evaluation& b) {
  ForceError out;
  for (std::size_t i = 0; i < a.forces.size(); ++i)
    for (std::size_t k = 0; k < 3; ++k) {
      const double d = a.forces[i][k] - b.forces[i][k];
      out.largest = std::max(out.largest, std::abs(d));
      out.rms += d * d / (3.0 * static_cast<double>(a.forces.size()));
    }
  out.rms = std::sqrt(out.rms);
  return out;
}

}  // namespace

TEST_CASE("a cut bond leaves no state behind") {
  const double d = 1.0 / std::sqrt(3.0), p = std::sqrt(0.75);
  double out[16];
  hybrid_projector({d, d, d, d, -d, -d}, out);
  for (const auto& direction : {std::array<double, 3>{d, d, d}, {d, -d, -d}})
    for (int i = 0; i < 4; ++i) {
      double sum = 0.5 * out[4 * i];
      for (int k = 0; k < 3; ++k) sum += p * direction[k] * out[4 * i + k + 1];
      CHECK(std::abs(sum) < 1e-14);
    }
  for (int i = 0; i < 4; ++i) {  // the two other hybrids stay as they are
    double sum = 0.5 * out[4 * i] + p * d * (-out[4 * i + 1] + out[4 * i + 2] - out[4 * i + 3]);
    CHECK(sum == Approx(i == 0 ? 0.5 : p * d * (i == 2 ? 1.0 : -1.0)).margin(1e-14));
  }
}

TEST_CASE("a cluster has the crystal's gap, with either solver") {
  test::World world;
  const Diamond crystal(3, 0.1);
  TightBinding::Params params;
  params.reach = 3.2;
  params.skin = 0.0;
  params.krylov_tolerance = 1e-8;
  Run lanczos(crystal, params, world);
  const Evaluation a = lanczos();
  CHECK(lanczos.potential.last()->gap_high - lanczos.potential.last()->gap_low > 4.0);  // eV; dangling bonds: 0
  params.solver = SolverKind::diagonalise;
  Run dense(crystal, params, world);
  const Evaluation b = dense();
  CHECK(a.energy == Approx(b.energy).epsilon(1e-8));
  CHECK(difference(a, b).largest < 1e-6);
}

TEST_CASE(
    "submatrices hold the atoms above eps of the whole density matrix, and keep them while atoms move within the "
    "skin") {
  test::World world;
  const Diamond crystal(2, 0.1);
  const double eps = 1e-3, skin = 0.3;
  TightBinding::Params whole;
  whole.reach = 100.0;
  Run exact(crystal, whole, world), truncated(crystal, by_eps(eps, skin), world);
  truncated();
  const Regions::Lists chosen = truncated.potential.regions();
  const auto missing = [&] {
    int out = 0;
    for (int i = 0; i < std::ssize(chosen); ++i)
      for (int j = 0; j < std::ssize(chosen); ++j) {
        const double* d = exact.potential.last()->density.block(j, i);
        double norm = 0.0;
        for (int k = 0; k < 16; ++k) norm += d[k] * d[k];
        const auto& list = chosen[i];
        out += 4.0 * norm >= eps && !std::binary_search(list.begin(), list.end(), j);
      }
    return out;
  };
  exact();
  CHECK(missing() == 0);
  double atoms = 0.0;
  for (const auto& list : chosen) atoms += static_cast<double>(list.size()) / static_cast<double>(chosen.size());
  CHECK(atoms < 60.0);  // of 64
  auto moved = crystal.x;
  for (std::size_t i = 0; i < moved.size(); ++i) moved[i][i % 3] += 0.1 * static_cast<double>(i % 2);
  exact.at(moved);
  CHECK(missing() == 0);
  truncated.at(moved);
  CHECK(truncated.potential.choices() == 1);
  CHECK(truncated.potential.regions() == chosen);
  moved[7][0] += 0.2;
  truncated.at(moved);
  CHECK(truncated.potential.choices() == 2);
}

namespace {

struct Row {
  double atoms = 0.0, gap = 0.0, energy = 0.0, drift = 0.0, drift_error = 0.0, spread = 0.0;
  ForceError force;
  /// What the drift may be, by how far windows of the trajectory agree.
  double drift_bound() const { return std::abs(drift) + drift_error; }
};

constexpr double boltzmann = 8.617333e-5;  // eV/K

std::vector<Position> velocities(std::size_t n, double temperature, double mass) {
  std::vector<Position> out(n);
  for (std::size_t i = 0; i < n; ++i) {
    const Random4 random(9, Stream::velocities, i, 0);
    for (std::size_t k = 0; k < 3; ++k)
      out[i][k] = std::sqrt(12.0 * boltzmann * temperature / mass) * (random.uniform(static_cast<int>(k)) - 0.5);
  }
  return out;
}

/// Total energy per atom along velocity Verlet.
std::vector<double> energies(Run& run, std::vector<Position> x, int steps, double dt, double temperature) {
  const double mass = run.mass;
  auto v = velocities(x.size(), temperature, mass);
  Evaluation e = run.at(x);
  std::vector<double> out;
  for (int step = 0;; ++step) {
    double kinetic = 0.0;
    for (const auto& u : v) kinetic += 0.5 * mass * (u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
    out.push_back((e.energy + kinetic) / static_cast<double>(x.size()));
    if (step == steps) return out;
    for (std::size_t i = 0; i < x.size(); ++i)
      for (std::size_t k = 0; k < 3; ++k) v[i][k] += 0.5 * dt / mass * e.forces[i][k], x[i][k] += dt * v[i][k];
    e = run.at(x);
    for (std::size_t i = 0; i < x.size(); ++i)
      for (std::size_t k = 0; k < 3; ++k) v[i][k] += 0.5 * dt / mass * e.forces[i][k];
  }
}

struct Line {
  double slope = 0.0, around = 0.0;
};

/// Least squares of values one `dt` apart.
Line fit(std::span<const double> values, double dt) {
  const auto n = static_cast<double>(values.size());
  double tt = 0.0, te = 0.0, mean = 0.0;
  for (double e : values) mean += (e - values[0]) / n;
  const auto time = [&](std::size_t k) { return dt * (static_cast<double>(k) - 0.5 * (n - 1.0)); };
  for (std::size_t k = 0; k < values.size(); ++k) {
    tt += time(k) * time(k);
    te += time(k) * (values[k] - values[0] - mean);
  }
  Line out{te / tt, 0.0};
  for (std::size_t k = 0; k < values.size(); ++k)
    out.around += std::pow(values[k] - values[0] - mean - out.slope * time(k), 2) / n;
  out.around = std::sqrt(out.around);
  return out;
}

/// Slope of the whole, and its standard error from four windows, in each of which other oscillations are cut off.
void measure_drift(const std::vector<double>& energy, double dt, Row& row) {
  const Line whole = fit(energy, dt);
  row.drift = whole.slope;
  row.spread = whole.around;
  const std::size_t windows = 4, length = energy.size() / windows;
  double squares = 0.0;
  for (std::size_t w = 0; w < windows; ++w)
    squares += std::pow(fit(std::span(energy).subspan(w * length, length), dt).slope - whole.slope, 2);
  row.drift_error = std::sqrt(squares / static_cast<double>(windows * (windows - 1)));
}

/// A row for each eps. Each row is printed as one JSON object.
std::vector<Row> table(int cells, const std::vector<double>& eps, int steps, double dt, double temperature,
                       test::World& world, const Element& element = carbon) {
  const Diamond crystal(cells, 0.1, element);
  const auto atoms = static_cast<double>(crystal.x.size());
  Run exact(crystal, TightBinding::Params{}, world);
  const Evaluation reference = exact();
  const auto integrator = steps > 0 ? energies(exact, crystal.x, steps, dt, temperature) : std::vector<double>{};
  std::vector<Row> out;
  for (double e : eps) {
    Row row;
    Run run(crystal, by_eps(e), world);
    const Evaluation found = run();
    row.force = difference(found, reference);
    row.energy = (found.energy - reference.energy) / atoms;
    for (const auto& list : run.potential.regions()) row.atoms += static_cast<double>(list.size()) / atoms;
    row.gap = run.potential.last()->gap_high - run.potential.last()->gap_low;
    if (steps > 0) {
      // The time step makes the energy swing as well; the exact trajectory from the same start swings along.
      auto swing = energies(run, crystal.x, steps, dt, temperature);
      for (std::size_t k = 0; k < swing.size(); ++k) swing[k] -= integrator[k];
      measure_drift(swing, dt, row);
    }
    std::cout << fmt::format(
                     "{{\"eps\": {}, \"cell_atoms\": {}, \"submatrix_atoms\": {:.1f}, \"gap_ev\": {:.3f}, "
                     "\"force_error_largest\": {:.3g}, \"force_error_rms\": {:.3g}, ",
                     e, atoms, row.atoms, row.gap, row.force.largest, row.force.rms)
              << fmt::format(
                     "\"energy_error_ev_per_atom\": {:.3g}, \"steps\": {}, \"timestep_ps\": {}, \"temperature\": {}, "
                     "\"drift_ev_per_atom_ps\": {:.3g}, \"drift_error\": {:.3g}, \"around_ev_per_atom\": {:.3g}, "
                     "\"choices\": {}}}",
                     row.energy, steps, dt, temperature, row.drift, row.drift_error, row.spread,
                     run.potential.choices())
              << std::endl;
    out.push_back(row);
  }
  return out;
}

void check_shrink(const std::vector<Row>& rows) {
  for (std::size_t k = 1; k < rows.size(); ++k) {
    CHECK(rows[k].force.largest < rows[k - 1].force.largest);
    CHECK(rows[k].force.rms < rows[k - 1].force.rms);
    CHECK(rows[k].drift_bound() < rows[k - 1].drift_bound());
  }
}

}  // namespace

// At 0.3 Å and 0.5 Å the gap is 0.64 and 0.23 eV; at 0.5 Å the widest one within 2 % of the electrons is another, of
// 0.71 eV.
TEST_CASE("mu is in the gap of silicon, however small: forces by eps are those of a diagonalisation") {
  test::World world;
  for (double noise : {0.3, 0.5}) {
    const Diamond crystal(2, noise, silicon);
    Run exact(crystal, TightBinding::Params{}, world), truncated(crystal, by_eps(1e-5), world);
    const Evaluation reference = exact(), found = truncated();
    const auto &whole = *exact.potential.last(), &last = *truncated.potential.last();
    const double gap = whole.gap_high - whole.gap_low;
    CHECK(gap < 0.7);
    CHECK(std::abs(last.mu - whole.mu) < 0.25 * gap);
    CHECK(last.electrons == Approx(whole.electrons).epsilon(1e-8));
    CHECK(difference(found, reference).largest < 1e-4);
    CHECK(found.energy == Approx(reference.energy).epsilon(1e-10));
  }
}

// Moved by up to 0.6 Å the crystal has a gap of 6 meV at its 256 electrons, and a wider one at 252.
TEST_CASE("silicon without a gap is refused at zero temperature, and has all its electrons at another") {
  test::World world;
  const Diamond crystal(2, 0.6, silicon);
  Run cold(crystal, by_eps(1e-5), world);
  CHECK_THROWS_WITH(cold(),
                    "no gap of the submatrices holds 256 electrons: the nearest that is wide enough, of 0.75 eV, holds "
                    "252.0; metals and liquids need an electronic temperature, for example temperature: 1000 K");
  TightBinding::Params params = by_eps(1e-5);
  params.temperature = 1000.0;
  Run warm(crystal, params, world);
  warm();
  CHECK(warm.potential.last()->electrons == Approx(256.0).epsilon(1e-9));
}

TEST_CASE("forces and the conservation of energy get better with eps") {
  test::World world;
  check_shrink(table(2, {1e-2, 1e-3, 1e-4}, 15, 1e-3, 600.0, world));
}

// What README tabulates, see studies/tight_binding_truncation.py. Submatrices of 512 atoms never meet themselves
// through the cell's faces; dynamics of as many takes hours.
TEST_CASE("force errors at eps 1e-4, 1e-5 and 1e-6, 512 atoms", "[.long]") {
  test::World world;
  const auto rows = table(4, {1e-4, 1e-5, 1e-6}, 0, 1e-3, 1000.0, world);
  for (std::size_t k = 1; k < rows.size(); ++k) {
    CHECK(rows[k].force.largest < rows[k - 1].force.largest);
    CHECK(rows[k].force.rms < rows[k - 1].force.rms);
  }
}

TEST_CASE("drift of dynamics at eps 1e-4, 1e-5 and 1e-6, 216 atoms", "[.long]") {
  test::World world;
  check_shrink(table(3, {1e-4, 1e-5, 1e-6}, 39, 1e-3, 1000.0, world));
}

// Silicon has a smaller gap and larger submatrices.
TEST_CASE("silicon: force errors at eps 1e-3, 1e-4 and 1e-5, 512 atoms", "[.long]") {
  test::World world;
  const auto rows = table(4, {1e-3, 1e-4, 1e-5}, 0, 1e-3, 600.0, world, silicon);
  for (std::size_t k = 1; k < rows.size(); ++k) {
    CHECK(rows[k].force.largest < rows[k - 1].force.largest);
    CHECK(rows[k].force.rms < rows[k - 1].force.rms);
  }
}

TEST_CASE("silicon: drift of dynamics at eps 1e-2, 1e-3 and 1e-4, 216 atoms", "[.long]") {
  test::World world;
  check_shrink(table(3, {1e-2, 1e-3, 1e-4}, 23, 2e-3, 600.0, world, silicon));
}
