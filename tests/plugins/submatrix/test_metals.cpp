// Metals: the Fermi operator at finite temperature by submatrices, beside dense diagonalisations; forces of the free
// energy of DFTB.
#include "plugins/submatrix/columns/chemical_potential.hpp"
#include "plugins/submatrix/density/dense_density.hpp"
#include "plugins/submatrix/density/per_cell.hpp"
#include "plugins/submatrix/dftb/ground_state.hpp"
#include "plugins/submatrix/matrices/ring.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/submatrix/dftb_set.hpp"
#include "tests/plugins/submatrix/samples.hpp"
#include "tests/scratch.hpp"

using namespace cambium;
using namespace cambium::submatrix;
using namespace cambium::submatrix::test;

namespace {

/// Everything of a Fermi distribution over given levels, two electrons to a level, by bisection of its mu.
struct Fermi {
  double mu = 0.0, energy = 0.0, entropy_term = 0.0;
  std::vector<double> f;

  Fermi(const std::vector<double>& levels, double electrons, double kt) {
    const auto of = [&](double e, double m) { return 1.0 / (1.0 + std::exp((e - m) / kt)); };
    double low = levels.front() - 1.0, high = levels.back() + 1.0;
    for (int k = 0; k < 200; ++k) {
      mu = 0.5 * (low + high);
      double count = 0.0;
      for (double e : levels) count += 2.0 * of(e, mu);
      (count < electrons ? low : high) = mu;
    }
    for (double e : levels) {
      f.push_back(of(e, mu));
      const double x = f.back();
      energy += 2.0 * x * e;
      if (x > 0.0 && x < 1.0) entropy_term += 2.0 * kt * (x * std::log(x) + (1.0 - x) * std::log(1.0 - x));
    }
  }
};

constexpr double kt = 0.04;  // 12,600 K

const std::vector<Species> hydrogen{{"H", 1.0}};

/// Hydrogen at equal distances in a periodic cell, a metal; atoms are displaced so that there are forces.
DftbAtoms lattice(int along_x, int along_y) {
  DftbAtoms out;
  constexpr double spacing = 2.4;
  for (int i = 0; i < along_x; ++i)
    for (int j = 0; j < along_y; ++j) {
      const int k = static_cast<int>(out.type.size());
      out.type.push_back(0);
      out.tag.push_back(k + 1);
      out.x.push_back(spacing * i + 0.08 * std::sin(3.0 * k + 1.0));
      out.x.push_back(spacing * j + 0.08 * std::sin(5.0 * k + 2.0));
      out.x.push_back(0.08 * std::sin(7.0 * k + 3.0));
    }
  const double width = along_y > 1 ? spacing * along_y : 14.0;
  out.cell = {{{spacing * along_x, 0.0, 0.0}, {0.0, width, 0.0}, {0.0, 0.0, 14.0}}};
  out.volume = spacing * along_x * width * 14.0;
  return out;
}

DftbKeys keys(const std::string& folder, double eps) {
  DftbKeys out;
  out.slater_koster.directory = folder;
  out.tolerance = 1e-9;
  out.filling.temperature = kt / boltzmann_hartree;
  out.solver = DftbKeys::Solver::submatrix;
  out.eps = eps;
  return out;
}

}  // namespace

TEST_CASE("a metallic ring: energy, entropy, mu, electrons and D converge to those of a dense diagonalisation") {
  World world;
  const RingInput input{.atoms = 120, .functions = 2, .gap = 0.0, .hopping = 0.3, .range = 0.4};
  const MatrixSystem system = ring_matrices(input, 5, world.comm);
  const Fermi exact(ring_levels(input), system.electrons, kt);
  DensityOptions options;
  options.kt = kt;
  options.electrons = system.electrons;
  options.orthogonal = options.energy_weighted = true;
  const DensityResult dense = dense_density(system, options, world.comm);
  CHECK(dense.energy == Approx(exact.energy).epsilon(1e-12));
  CHECK(dense.entropy_term == Approx(exact.entropy_term).epsilon(1e-10));
  CHECK(dense.mu == Approx(exact.mu).margin(1e-10));
  double before = 1e9;
  for (const double eps : {1e-2, 1e-4, 1e-6}) {
    options.eps = options.eps_overlap = eps;
    const DensityResult found = density_matrix(system, options, world.context);
    const double free = found.energy + found.entropy_term, expected = exact.energy + exact.entropy_term,
                 error = std::abs(free - expected) / system.atoms;
    INFO("eps " << eps << ", free energy off by " << error << " hartree/atom, rows " << found.columns.mean_dimension);
    CHECK(found.electrons == Approx(system.electrons).epsilon(1e-11));
    // What the run states of itself contains what it lacks; energy_change belongs to its own mu.
    const double grand = found.energy + found.entropy_term - found.mu * found.electrons;
    double at_its_mu = 0.0;
    for (double e : ring_levels(input)) at_its_mu -= 2.0 * kt * std::log1p(std::exp(-(e - found.mu) / kt));
    CHECK(std::abs((at_its_mu - grand) / system.atoms - found.error.energy_change) <= found.error.margin + 1e-8);
    CHECK((error < 0.5 * before || error < 1e-9));
    before = error;
    if (eps > 2e-6) continue;
    CHECK(found.columns.mean_dimension < 0.95 * 240);
    CHECK(found.energy == Approx(exact.energy).margin(2e-6));
    CHECK(found.entropy_term == Approx(exact.entropy_term).margin(2e-6));
    CHECK(found.mu == Approx(exact.mu).margin(1e-7));
    for (int column : found.density.columns()) {
      const BlockColumn c = found.density.column(column);
      for (std::size_t e = 0; e < c.rows.size(); ++e)
        if (const double* other = dense.density.block(c.rows[e], column))
          for (int k = 0; k < 4; ++k) CHECK(c.block(e)[k] == Approx(other[k]).margin(5e-5));
    }
  }
}

TEST_CASE(
    "DFTB of metallic hydrogen: a chain and a slab by submatrices beside dense diagonalisation, and forces as slopes") {
  World world;
  const Scratch scratch("metals");
  const std::string folder = cambium::test::write_set(scratch.file("set"));
  for (const auto& [atoms, eps] : {std::pair{lattice(64, 1), 1e-8}, std::pair{lattice(16, 3), 1e-8}}) {
    DftbKeys k = keys(folder, eps);
    const DftbParameters parameters(k.slater_koster, {}, k.repulsion, hydrogen);
    const DftbState found = ground_state(atoms, parameters, k, world.context);
    k.solver = DftbKeys::Solver::dense;
    const DftbState dense = ground_state(atoms, parameters, k, world.context);
    k.solver = DftbKeys::Solver::submatrix;
    CHECK(dense.lumo - dense.homo < 0.05);  // no gap worth the name
    CHECK(std::abs(dense.entropy_term) > 1e-4 * atoms.count());
    CHECK(found.mermin == Approx(dense.mermin).margin(1e-6));
    CHECK(found.entropy_term == Approx(dense.entropy_term).margin(1e-6));
    CHECK(found.mu == Approx(dense.mu).margin(1e-6));
    REQUIRE(found.error);
    double worst = 0.0, slopes = 0.0;
    for (std::size_t i = 0; i < found.forces.size(); ++i)
      worst = std::max(worst, std::abs(found.forces[i] - dense.forces[i]));
    CHECK(worst < 1e-6);
    for (std::size_t i = 0; i < 9; ++i) CHECK(found.virial[i] == Approx(dense.virial[i]).margin(1e-5));
    for (const std::size_t i : {0, 4}) {
      const auto energy = [&](double step) {
        DftbAtoms moved = atoms;
        moved.x[i] += step;
        return ground_state(moved, parameters, k, world.context).mermin;
      };
      constexpr double h = 4e-3;
      const double slope = (8.0 * (energy(h) - energy(-h)) - (energy(2 * h) - energy(-2 * h))) / (12.0 * h);
      CHECK(found.forces[i] == Approx(-slope).margin(1e-6));
      slopes = std::max(slopes, std::abs(slope));
    }
    CHECK(slopes > 1e-4);
    if (world.comm.root())
      std::printf(
          "%d atoms, eps %g: submatrices of %.0f of %d functions, free energy off by %.1e hartree, forces by %.1e "
          "hartree/bohr, stated %.1e +- %.1e hartree\n",
          atoms.count(), eps, found.mean_dimension, found.functions, found.mermin - dense.mermin, worst,
          -found.error->energy_change * atoms.count(), found.error->margin * atoms.count());
  }
}
