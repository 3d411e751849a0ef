// Velocity cells of different widths: the same as equal ones where both can do it, and better where few cells are
// narrow.
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "compare_runs.hpp"
#include "kinetic_run.hpp"
#include "oracle.hpp"
#include "plugins/kinetic/physics/boltzmann_bgk.hpp"
#include "plugins/kinetic/species/higher_moments.hpp"
#include "plugins/kinetic/species/totals.hpp"
#include "plugins/kinetic/writers/sampled.hpp"
#include "stretched.hpp"
#include "tests/catch.hpp"

using namespace cambium;
using namespace cambium::kinetic;

namespace {

/// Electrons in 1x2v with a magnetic field, far from a Maxwellian; cells of both velocities are stretched.
VlasovMaxwell::Params magnetised(std::vector<int> ranks = {}) {
  VlasovMaxwell::Params p;
  p.domain = domain({"0"}, {"4*pi"}, {12});
  p.species = {species("electron", "-1", "1", {"-6", "-6"}, {"6", "6"}, {8, 12},
                       "(1 + 0.1*cos(0.5*x)) * maxwellian(vx, 0.3, 1) * maxwellian(vy, 0, 1.2)")};
  p.species[0].velocity.spacing = {stretch("0.6"), uneven(6.0, 12)};
  p.fields.E = {"-0.2*sin(0.5*x)", "0.1*cos(x)"};
  p.fields.B = {"0", "0", "0.3 + 0.2*sin(0.5*x)"};
  p.ranks = std::move(ranks);
  return p;
}

double totals_of(const kinetic::Species& s, const std::string& what) {
  const Totals t(s);
  return what == "particles" ? t.particles() : what == "momentum" ? t.momentum(0) : t.kinetic_energy();
}

}  // namespace

TEST_CASE("edges of equal widths are the uniform grid, bit for bit") {
  const auto with = [](std::vector<SpacingParams> spacing) {
    auto p = wave("0.5", 8, 12, "(1 + 0.1*cos(k*x)) * maxwellian(v)");
    p.species[0].velocity.spacing = std::move(spacing);
    KineticRun<VlasovPoisson> run(p, MPI_COMM_SELF);
    run.start();
    for (int k = 0; k < 5; ++k) run.step();
    CHECK(!run.physics->species()[0]->solver().grid().stretched());
    return cells_of(*run.physics->species()[0]);
  };
  const auto wanted = with({});
  std::vector<std::string> all;
  for (int k = -6; k <= 6; ++k) all.push_back(std::to_string(k));
  CHECK(with({edges(all)}) == wanted);
  CHECK(with({mapping("6*eta")}) == wanted);
  CHECK(with({stretch("0")}) == wanted);
  CHECK(with({{}}) == wanted);
}

TEST_CASE("kernels for cells of their own widths do the same with equal ones as those for equal ones") {
  const Comm comm(MPI_COMM_SELF);
  for (const auto& b : built()) {
    if (b.info.modes > 48) continue;
    PhaseGrid grid = small_grid(b.info.cdim, b.info.vdim), equal = grid;
    for (int d = 0; d < b.info.vdim; ++d) {
      Axis& a = equal.axis[b.info.cdim + d];
      for (int k = 0; k <= a.cells; ++k) a.edges.push_back(a.lower + k * a.width());
    }
    decompose(grid, comm, {});
    decompose(equal, comm, {});
    Cells cells(grid, b.info);
    cells.fill(3);
    RandomFields fields(grid, b.info, -1.3, true);
    for (const bool upwind : {false, true}) {
      fields.force.upwind = upwind;
      std::vector<double> moments[2], f[2];
      double frequency[2], square[2];
      for (int s : {0, 1}) {
        const auto solver = make_solver(b, Precision::float64, s ? equal : grid, comm);
        cells.to(*solver, 0);
        moments[s].assign(static_cast<std::size_t>(grid.conf_cells()) * b.info.conf * (grid.vdim + 2), 0.0);
        frequency[s] = solver->stage({0, 0, 1, 0.0, 1.0, 0.1}, fields.force, moments[s]);
        square[s] = solver->square_integral(1);
        solver->to_host_const(1);
        std::vector<double> one(b.info.modes);
        for (int ic = 0; ic < grid.local_conf_cells(); ++ic)
          for (int iv = 0; iv < grid.local_velocity_cells(); ++iv) {
            solver->get(1, ic, iv, one.data());
            f[s].insert(f[s].end(), one.begin(), one.end());
          }
      }
      double largest = 0.0, moment = 0.0;
      for (double x : f[0]) largest = std::max(largest, std::abs(x));
      for (double x : moments[0]) moment = std::max(moment, std::abs(x));
      INFO(b.info.name << " upwind " << upwind);
      CHECK(furthest(f[0], f[1]) < 1e-13 * largest);
      CHECK(furthest(moments[0], moments[1]) < 1e-13 * moment);
      CHECK(frequency[1] == Approx(frequency[0]).epsilon(1e-13));
      CHECK(square[1] == Approx(square[0]).epsilon(1e-13));
    }
  }
}

TEST_CASE("widths add up, and what is read from them is that of each cell") {
  auto p = wave("0.5", 4, 8, "maxwellian(v)");
  for (const auto& spacing : {stretch("1"), mapping("6*eta*abs(eta)")}) {
    p.species[0].velocity.spacing = {spacing};
    KineticRun<VlasovPoisson> run(p, MPI_COMM_SELF);
    const Axis& v = run.physics->species()[0]->solver().grid().velocity(0);
    REQUIRE(v.edges.size() == 9);
    for (int k = 0; k <= 8; ++k) {
      const double eta = (k - 4) / 4.0;
      CHECK(v.edges[k] == Approx(6.0 * eta * std::abs(eta)).margin(1e-15));
    }
    CHECK(v.edges[4] == 0.0);
    CHECK(v.width(4) == Approx(6.0 / 16.0));
    CHECK(v.centre(7) == Approx(0.5 * (6.0 + 6.0 * 9.0 / 16.0)));
    CHECK(v.narrowest() == Approx(6.0 / 16.0));
    CHECK(v.symmetric());
    CHECK_THROWS(v.width());
  }
}

TEST_CASE("moments, temperature, entropy and higher moments are those of the distribution") {
  VlasovMaxwell::Params p;
  p.domain = domain({"0"}, {"2"}, {3});
  p.species = {species("gas", "-1", "2", {"-7", "-7"}, {"7", "7"}, {24, 20},
                       "maxwellian(vx, 0.5, 1) * maxwellian(vy, -0.2, 0.8)")};
  p.species[0].velocity.spacing = {stretch("0.7"), mapping("7*(0.5*eta + 0.5*eta^3)")};
  KineticRun<VlasovMaxwell> run(p);
  run.start();
  const auto& s = *run.physics->species()[0];
  const Totals t(s);
  CHECK(t.particles() == Approx(2.0).epsilon(1e-5));
  CHECK(t.momentum(0) == Approx(2.0).epsilon(1e-5));
  CHECK(t.momentum(1) == Approx(-0.8).epsilon(1e-5));
  CHECK(t.kinetic_energy() == Approx(2.0 * (0.25 + 1.0 + 0.04 + 0.64)).epsilon(1e-5));
  // Of a Maxwellian, per particle: 1 + log(2 pi vtx vty); its square: 1/(4 pi vtx vty).
  CHECK(t.entropy() == Approx(2.0 * (1.0 + std::log(2.0 * M_PI * 0.8))).epsilon(1e-4));
  CHECK(t.square_integral() == Approx(2.0 / (4.0 * M_PI * 0.8)).epsilon(1e-5));
  const auto pressure = higher_moments(s, HigherMoment::pressure), heat = higher_moments(s, HigherMoment::heat_flux);
  CHECK(pressure[0][0] * std::sqrt(0.5) == Approx(2.0).epsilon(1e-5));
  CHECK(pressure[1][0] == Approx(0.0).margin(1e-6));
  CHECK(pressure[2][0] * std::sqrt(0.5) == Approx(2.0 * 0.64).epsilon(1e-5));
  CHECK(heat[0][0] == Approx(0.0).margin(1e-5));
  // Over some axes, integrated over the others.
  const auto f = sampled_distribution(s, axes_of(s.solver().grid(), {"vx"}, "test"), run.comm);
  REQUIRE(f.axes[0].cells() == 72);
  double sum = 0.0;
  for (int k = 0; k < 72; ++k) {
    const double width = f.axes[0].faces[k + 1] - f.axes[0].faces[k], v = f.axes[0].faces[k] + 0.5 * width - 0.5;
    CHECK(std::abs(f.fields[0].values[k] - 2.0 * std::exp(-0.5 * v * v) / std::sqrt(2.0 * M_PI)) < 2e-3);
    sum += width * f.fields[0].values[k];
  }
  CHECK(sum == Approx(2.0).epsilon(2e-3));
}

TEST_CASE("cuts of stretched grids change nothing beyond rounding") {
  const int n = Comm().size();
  std::vector<std::vector<int>> cuts{{n, 1, 1}, {1, n, 1}, {1, 1, n}, {}};
  if (n == 4) cuts.push_back({1, 2, 2});
  for (const bool upwind : {false, true})
    for (const auto& cut : cuts) {
      auto p = magnetised(), q = magnetised(cut);
      for (auto* each : {&p, &q})
        if (upwind) each->acceleration_flux = CommonParams::AccelerationFlux::upwind;
      KineticRun<VlasovMaxwell> whole(p, MPI_COMM_SELF), part(q);
      whole.start();
      part.start();
      for (int k = 0; k < 10; ++k) whole.step(), part.step();
      CHECK(difference(part, whole) < 1e-13);
      CHECK(part.state.time == Approx(whole.state.time).epsilon(1e-12));
      CHECK(part("square_electron") == Approx(whole("square_electron")).epsilon(1e-13));
      CHECK(part("total_energy") == Approx(whole("total_energy")).epsilon(1e-13));
      CHECK(furthest_fields(part, whole) < 1e-13);
    }
}

TEST_CASE("two stages in one pass are the two stages on stretched grids, too") {
  const int n = Comm().size();
  const auto large = [](std::vector<int> ranks) {
    auto p = magnetised(std::move(ranks));
    p.domain.cells = {96};
    p.species[0].velocity.cells = {24, 24};
    p.species[0].velocity.spacing = {stretch("0.6"), uneven(6.0, 24)};
    return p;
  };
  KineticRun<VlasovMaxwell> whole(large({}), MPI_COMM_SELF), apart(large({1, 1, n}));
  CHECK(whole.physics->fuses() == device_is_host);
  whole.start();
  apart.start();
  for (int k = 0; k < 3; ++k) whole.step(), apart.step();
  CHECK(difference(apart, whole) < 1e-13);
}

TEST_CASE("free streaming keeps particles, momentum and energy") {
  VlasovPoisson::Params p;
  p.domain = domain({"0"}, {"4*pi"}, {8});
  p.species = {species("gas", "0", "1", {"-6", "-5"}, {"6", "5"}, {12, 8},
                       "(1 + 0.5*cos(0.5*x)) * maxwellian(vx, 0.4) * maxwellian(vy)")};
  p.species[0].velocity.spacing = {uneven(6.0, 12), stretch("0.9")};
  KineticRun<VlasovPoisson> run(p);
  run.start();
  const auto& s = *run.physics->species()[0];
  std::vector<double> before;
  for (const char* what : {"particles", "momentum", "energy"}) before.push_back(totals_of(s, what));
  run.until(5.0);
  for (int k = 0; k < 3; ++k)
    CHECK(totals_of(s, std::array{"particles", "momentum", "energy"}[k]) == Approx(before[k]).epsilon(1e-13));
}

TEST_CASE("particles are kept in fields, and the error of the energy is of third order in the time step") {
  if (Comm().size() > 1) return;
  double error[2];
  for (int fine : {0, 1}) {
    auto p = magnetised();
    p.max_timestep = fine ? 0.01 : 0.02;
    KineticRun<VlasovMaxwell> run(p);
    run.start();
    const double particles = run("particles"), energy = run("total_energy"), square = run("square_electron");
    run.until(4.0);
    CHECK(std::abs(run("particles") / particles - 1.0) < 1e-12);
    CHECK(run("square_electron") < square);
    error[fine] = std::abs(run("total_energy") / energy - 1.0);
  }
  INFO(error[0] << " " << error[1]);
  CHECK(error[1] < 1e-6);
  CHECK(std::log2(error[0] / error[1]) > 2.5);
}

TEST_CASE("float32 keeps its particles on stretched grids") {
  if (Comm().size() > 1) return;
  auto p = wave("0.5", 32, 32, "(1 + 0.1*cos(k*x)) * maxwellian(v)");
  p.precision = Precision::float32;
  p.species[0].velocity.spacing = {stretch("0.7")};
  KineticRun<VlasovPoisson> run(p);
  run.start();
  const double particles = run("particles"), rounding = 3.0 / 33554432.0 / 32.0;  // as in test_conservation.cpp
  for (int k = 0; k < 500; ++k) run.step();
  const double change = run("particles") / particles - 1.0;
  INFO("after 500 steps " << change);
  CHECK(std::abs(change) < 10.0 * std::sqrt(500.0) * rounding);
}

namespace {

/// A gas far from any Maxwellian on stretched cells.
BoltzmannBgk::Params gas(int vdim, const CollisionParams& collisions, int order = 2) {
  BoltzmannBgk::Params p;
  p.basis.order = order;
  p.domain = domain({"0"}, {"1"}, {5});
  const std::string x = vdim == 1 ? "v" : "vx", rest = vdim == 1 ? "" : "*maxwellian(vy)",
                    other = vdim == 1 ? "" : "*maxwellian(vy, 0.5, 0.8)";
  p.species = {species("gas", "0", "1", std::vector<std::string>(vdim, "-6"), std::vector<std::string>(vdim, "6"),
                       std::vector<int>(vdim, 12),
                       fmt::format("(1 + 0.4*sin(2*pi*x))*maxwellian({}, 1.5, 0.7){} + 0.6*maxwellian({}, -1, 1){}", x,
                                   rest, x, other))};
  p.species[0].velocity.spacing = {uneven(6.0, 12)};
  if (vdim > 1) p.species[0].velocity.spacing.push_back(stretch("0.7"));
  p.species[0].collisions = collisions;
  return p;
}

CollisionParams dougherty(CollisionScheme scheme) { return {CollisionParams::Operator::dougherty, "1", scheme}; }

}  // namespace

TEST_CASE("collisions keep density, momentum and energy on stretched grids, and entropy rises") {
  const CollisionParams all[] = {dougherty(CollisionScheme::explicit_steps),
                                 dougherty(CollisionScheme::implicit),
                                 {CollisionParams::Operator::bgk, "1"}};
  for (int vdim : {1, 2})
    for (int order : {1, 2})
      for (const auto& collisions : all)
        for (double dt : {0.01, 0.3}) {
          KineticRun<BoltzmannBgk> run(gas(vdim, collisions, order), MPI_COMM_SELF);
          run.start();
          auto& s = *run.physics->species().front();
          const auto density = s.moment(0);
          const double particles = Totals(s).particles(), energy = Totals(s).kinetic_energy(),
                       momentum = Totals(s).momentum(0), entropy = Totals(s).entropy();
          s.collide(dt);
          s.compute_moments();
          INFO(vdim << " velocities, order " << order << ", operator " << static_cast<int>(collisions.op) << ", scheme "
                    << static_cast<int>(collisions.scheme) << ", dt " << dt);
          CHECK(Totals(s).particles() == Approx(particles).epsilon(1e-13));
          CHECK(Totals(s).kinetic_energy() == Approx(energy).epsilon(1e-12));
          CHECK(Totals(s).momentum(0) == Approx(momentum).margin(1e-12));
          CHECK(furthest(s.moment(0), density) < 1e-12);
          CHECK(Totals(s).entropy() > entropy);
        }
}

TEST_CASE("implicit collisions approach the explicit form on stretched grids, at order two") {
  const auto collided = [](CollisionScheme scheme, int steps) {
    KineticRun<BoltzmannBgk> run(gas(1, dougherty(scheme)), MPI_COMM_SELF);
    run.start();
    auto& s = *run.physics->species().front();
    for (int k = 0; k < steps; ++k) {
      s.collide(0.1 / steps);
      s.compute_moments();
    }
    return cells_of(s);
  };
  double error[3];
  for (int k : {0, 1, 2})
    error[k] =
        furthest(collided(CollisionScheme::implicit, 64 << k), collided(CollisionScheme::explicit_steps, 64 << k));
  INFO(error[0] << " " << error[1] << " " << error[2]);
  CHECK(error[2] < 1e-4);
  CHECK(std::log2(error[1] / error[2]) > 1.7);
}

TEST_CASE("a gas relaxes to the Maxwellian of its moments, as on equal cells") {
  double square[3];
  for (int k : {0, 1, 2}) {
    auto p =
        gas(1, k < 2 ? dougherty(CollisionScheme::implicit) : CollisionParams{CollisionParams::Operator::bgk, "1"});
    p.species[0].velocity.cells = {48};
    p.species[0].velocity.spacing = {k == 0 ? SpacingParams{} : uneven(6.0, 48)};
    KineticRun<BoltzmannBgk> run(p, MPI_COMM_SELF);
    run.start();
    auto& s = *run.physics->species().front();
    for (int n = 0; n < 30; ++n) {
      s.collide(1.0);
      s.compute_moments();
    }
    square[k] = Totals(s).square_integral();
  }
  CHECK(square[1] == Approx(square[0]).epsilon(1e-4));
  CHECK(square[2] == Approx(square[0]).epsilon(1e-4));
}

TEST_CASE("species on different grids keep momentum and energy in collisions with each other") {
  for (const auto scheme : {CollisionScheme::explicit_steps, CollisionScheme::implicit}) {
    BoltzmannBgk::Params p;
    p.domain = domain({"0"}, {"1"}, {2});
    p.species = {species("a", "0", "1", {"-8"}, {"8"}, {24}, "maxwellian(v, 0.4)"),
                 species("b", "0", "4", {"-5"}, {"5"}, {20}, "0.5*maxwellian(v, 0, 0.7)")};
    p.species[1].velocity.spacing = {stretch("0.7")};
    p.collisions = {{{"a", "b"}, "0.7", scheme}};
    KineticRun<BoltzmannBgk> run(p, MPI_COMM_SELF);
    run.start();
    const auto &a = *run.physics->species()[0], &b = *run.physics->species()[1];
    const double first[] = {Totals(a).momentum(0), Totals(a).kinetic_energy()};
    const double momentum = first[0] + Totals(b).momentum(0), energy = first[1] + Totals(b).kinetic_energy();
    const double apart = first[0] / Totals(a).particles();
    run.physics->collide_species(0.2);
    CHECK(Totals(a).momentum(0) + Totals(b).momentum(0) == Approx(momentum).epsilon(1e-12));
    CHECK(Totals(a).kinetic_energy() + Totals(b).kinetic_energy() == Approx(energy).epsilon(1e-12));
    // d(u_a - u_b)/dt = -(nu_ab + nu_ba)/2 (u_a - u_b), nu_ba = nu_ab m_a n_a / (m_b n_b).
    const double u =
        Totals(a).momentum(0) / Totals(a).particles() - Totals(b).momentum(0) / (4.0 * Totals(b).particles());
    CHECK(u == Approx(apart * std::exp(-0.5 * (0.7 + 0.35) * 0.2)).epsilon(1e-3));
  }
}

namespace {

/// Errors of one step after the other against an exact solution that is known at every time, at N x N cells (N^2 x N of
/// two velocities) whose widths are stretched by a fixed map; norm of all modes.
template <class Exact>
double error_at(int n, int vdim, int order, const ForceField& force_like, const SpacingParams& spacing, double reach,
                const Exact& exact) {
  auto p = wave("0.5", n, n, "maxwellian(v)", reach);
  p.basis.order = order;
  p.species[0].velocity.lower.assign(vdim, std::to_string(-reach));
  p.species[0].velocity.upper.assign(vdim, std::to_string(reach));
  p.species[0].velocity.cells.assign(vdim, n);
  p.species[0].velocity.spacing.assign(vdim, spacing);
  const Comm comm(MPI_COMM_SELF);
  PhaseGrid grid = make_grid(p, p.species[0]);
  decompose(grid, comm, {});
  REQUIRE(grid.stretched());
  const auto solver = make_solver(find_built(1, vdim, order, false), Precision::float64, grid, comm);
  const auto& basis = solver->basis();
  const int points = order + 1;
  project(*solver, 0, points, [&](std::span<const double> z) { return exact(z, 0.0); });
  // Fields that are constant in space: the first mode alone.
  std::vector<double> e(static_cast<std::size_t>(n) * basis.conf, 0.0), b = e, unused(e.size() * (vdim + 2));
  for (int k = 0; k < n; ++k) {
    e[static_cast<std::size_t>(k) * basis.conf] = std::sqrt(2.0) * 0.3;
    b[static_cast<std::size_t>(k) * basis.conf] = std::sqrt(2.0) * 0.8;
  }
  ForceField force = force_like;
  if (force.electric[0]) force.electric[0] = e.data();
  if (force.magnetic[2]) force.magnetic[2] = b.data();
  const double end = 0.5, frequency = solver->stage({0, 0, 1, 0.0, 1.0, 0.0}, force, unused);
  const int steps = static_cast<int>(std::ceil(end * frequency / 0.3));
  const double dt = end / steps;
  for (int k = 0; k < steps; ++k) {
    solver->stage({0, 0, 1, 0.0, 1.0, dt}, force, unused);
    solver->stage({1, 0, 2, 0.75, 0.25, 0.25 * dt}, force, unused);
    solver->stage({2, 0, 0, 1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0 * dt}, force, unused);
  }
  solver->to_host_const(0);
  project(*solver, 1, points, [&](std::span<const double> z) { return exact(z, end); });
  solver->to_host_const(1);
  std::vector<double> f(basis.modes), g(basis.modes);
  double sum = 0.0;
  for (int ic = 0; ic < n; ++ic)
    for (int iv = 0; iv < grid.local_velocity_cells(); ++iv) {
      solver->get(0, ic, iv, f.data());
      solver->get(1, ic, iv, g.data());
      for (int k = 0; k < basis.modes; ++k) sum += grid.velocity_volume(iv) * (f[k] - g[k]) * (f[k] - g[k]) / n;
    }
  return std::sqrt(sum);
}

double normal(double v, double width = 1.0) { return std::exp(-0.5 * v * v / (width * width)); }

}  // namespace

TEST_CASE("streaming with an acceleration converges with order p + 1 on stretched cells") {
  if (Comm().size() > 1) return;
  double any = 0.0;
  ForceField force;
  force.charge_over_mass = 1.0;
  force.electric[0] = &any;
  // f0(x - v t + a t^2/2, v - a t)
  const auto exact = [](std::span<const double> z, double t) {
    const double v = z[1] - 0.3 * t, x = z[0] - z[1] * t + 0.15 * t * t;
    return (1.0 + 0.5 * std::cos(0.5 * x)) * normal(v);
  };
  for (int order : {1, 2}) {
    double error[3];
    for (int k : {0, 1, 2}) error[k] = error_at(12 << k, 1, order, force, stretch("0.7"), 8.0, exact);
    INFO("order " << order << ": " << error[0] << " " << error[1] << " " << error[2]);
    CHECK(std::log2(error[1] / error[2]) > order + 0.8);
  }
}

TEST_CASE("gyration converges with order p + 1 on stretched cells") {
  if (Comm().size() > 1) return;
  double any = 0.0;
  ForceField force;
  force.charge_over_mass = 1.0;
  force.magnetic[2] = &any;
  // dvx/dt = B vy, dvy/dt = -B vx: f is what it was at the velocity turned back.
  const auto exact = [](std::span<const double> z, double t) {
    const double c = std::cos(0.8 * t), s = std::sin(0.8 * t), vx = c * z[1] - s * z[2], vy = s * z[1] + c * z[2];
    return normal(vx - 1.0) * normal(vy, 1.4);
  };
  double error[3];
  for (int k : {0, 1, 2}) error[k] = error_at(8 << k, 2, 2, force, stretch("0.6"), 7.0, exact);
  INFO(error[0] << " " << error[1] << " " << error[2]);
  CHECK(std::log2(error[1] / error[2]) > 2.7);
}

namespace {

double rate_of(VlasovPoisson::Params p, const GrowthParams& fit, double* omega = nullptr) {
  p.observables.growth_rate = fit;
  KineticRun<VlasovPoisson> run(p);
  run.start();
  run.until(fit.to);
  const auto found = run.physics->growth()->fit();
  CHECK(found.found);
  if (omega) *omega = found.omega;
  return found.gamma;
}

}  // namespace

TEST_CASE("Landau damping on fewer cells than equal ones need") {
  if (Comm().size() > 1) return;
  const double exact = -0.15335947;
  double gamma[2], omega[2];
  for (int s : {0, 1}) {
    auto p = wave("0.5", 16, 24, "(1 + a*cos(k*x)) * maxwellian(v)", 8.0);
    // Narrow up to beyond the phase velocity, 2.83, wide in the tails.
    if (s) p.species[0].velocity.spacing = {mapping("8*(0.45*eta + 0.55*eta^5)")};
    gamma[s] = rate_of(p, {4.0, 18.0, true}, &omega[s]);
  }
  INFO("equal " << gamma[0] << " " << omega[0] << ", stretched " << gamma[1] << " " << omega[1]);
  CHECK(std::abs(gamma[1] / exact - 1.0) < 0.003);
  CHECK(std::abs(omega[1] / 1.41566186 - 1.0) < 0.003);
  CHECK(std::abs(gamma[0] / exact - 1.0) > 0.006);
}

TEST_CASE("two-stream instability on fewer cells than equal ones need") {
  if (Comm().size() > 1) return;
  const double exact = 0.31994351;
  double gamma[2];
  for (int s : {0, 1}) {
    auto p = wave("0.5", 32, 16, "(1 + a*cos(k*x)) * 0.5*(maxwellian(v, 1, 0.2) + maxwellian(v, -1, 0.2))", 4.0);
    p.parameters["a"] = "1e-6";
    if (s) p.species[0].velocity.spacing = {mapping("4*(0.35*eta + 0.65*eta^5)")};
    gamma[s] = rate_of(p, {15.0, 30.0, false});
  }
  INFO("equal " << gamma[0] << ", stretched " << gamma[1]);
  CHECK(std::abs(gamma[1] / exact - 1.0) < 0.003);
  CHECK(std::abs(gamma[0] / exact - 1.0) > 0.006);
}
