// The whole step on matrices made here, against the dense generalised eigenproblem, on any number of ranks.
#include <numeric>

#include "plugins/submatrix/columns/chemical_potential.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/submatrix/samples.hpp"

using namespace cambium;
using namespace cambium::submatrix;
using namespace cambium::submatrix::test;

namespace {

constexpr int blocks = 60;

DensityOptions tight(double eps) {
  DensityOptions options;
  options.eps = options.eps_overlap = eps;
  options.electrons = 2.0 * blocks;
  options.krylov_tolerance = 1e-9;
  return options;
}

double band_energy(const std::vector<double>& levels, int occupied) {
  return 2.0 * std::accumulate(levels.begin(), levels.begin() + occupied, 0.0);
}

/// 2 Tr(D M) of distributed matrices.
double trace(const BlockColumns& d, const BlockColumns& m, const Comm& comm) {
  double sum = 0.0;
  for (int c : d.columns()) {
    const BlockColumn column = d.column(c);
    for (std::size_t e = 0; e < column.rows.size(); ++e)
      if (const double* other = m.block(column.rows[e], c))
        for (int k = 0; k < d.layout().size(column.rows[e]) * d.layout().size(c); ++k)
          sum += column.block(e)[k] * other[k];
  }
  return 2.0 * comm.sum(sum);
}

}  // namespace

TEST_CASE("energy, electrons, gap and D of a chain, each solver") {
  World world;
  const Chain chain(blocks);
  const auto levels = chain.levels();
  REQUIRE(!levels.empty());
  REQUIRE(levels[blocks] - levels[blocks - 1] > 0.3);
  const MatrixSystem system = chain.system(world.comm);
  double before = 1e9;
  for (double eps : {1e-2, 1e-4, 1e-6, 1e-8}) {
    const auto result = density_matrix(system, tight(eps), world.context);
    const double error = std::abs(result.energy - band_energy(levels, blocks));
    CHECK(error < 0.3 * before);
    before = std::max(error, 1e-9);
  }
  CHECK(before < 1e-7);
  DensityOptions options = tight(1e-9);
  for (auto solver : {SolverKind::lanczos, SolverKind::diagonalise}) {
    options.solver = solver;
    options.energy_weighted = true;
    const auto result = density_matrix(system, options, world.context);
    CHECK(result.energy == Approx(band_energy(levels, blocks)).epsilon(1e-9));
    CHECK(result.electrons == Approx(2.0 * blocks).epsilon(1e-9));
    CHECK(result.mu > levels[blocks - 1]);
    CHECK(result.mu < levels[blocks]);
    CHECK(trace(result.density, system.overlap, world.comm) == Approx(2.0 * blocks).epsilon(1e-7));
    CHECK(trace(result.density, system.hamiltonian, world.comm) == Approx(result.energy).epsilon(1e-7));
    CHECK(trace(*result.energy_weighted, system.overlap, world.comm) == Approx(result.energy).epsilon(1e-7));
    CHECK(result.error.idempotency < 1e-6);
    CHECK(result.columns.evaluated_twice == 0);
  }
}

TEST_CASE("the local form without S^-1/2 is exact where submatrices are whole, and close where they are not") {
  World world;
  const Chain chain(blocks);
  const auto levels = chain.levels();
  const MatrixSystem system = chain.system(world.comm);
  DensityOptions options = tight(1e-12);
  options.form = Form::local;
  options.solver = SolverKind::diagonalise;
  options.energy_weighted = true;
  const auto exact = density_matrix(system, options, world.context);
  CHECK(exact.energy == Approx(band_energy(levels, blocks)).epsilon(1e-9));
  CHECK(exact.electrons == Approx(2.0 * blocks).epsilon(1e-9));
  CHECK(trace(exact.density, system.overlap, world.comm) == Approx(2.0 * blocks).epsilon(1e-9));
  CHECK(trace(exact.density, system.hamiltonian, world.comm) == Approx(exact.energy).epsilon(1e-9));
  CHECK(trace(*exact.energy_weighted, system.overlap, world.comm) == Approx(exact.energy).epsilon(1e-9));
  CHECK(exact.error.idempotency < 1e-6);
  double before = 1e9;
  for (double eps : {1e-2, 1e-3, 1e-4}) {
    options.eps = eps;
    const auto result = density_matrix(system, options, world.context);
    const double error = std::abs(result.energy - band_energy(levels, blocks));
    CHECK(error < before);
    CHECK(trace(result.density, system.hamiltonian, world.comm) == Approx(result.energy).epsilon(1e-9));
    before = error;
  }
  CHECK(before < 1e-4);
}

TEST_CASE("solvers agree where pruned products are not quite symmetric, and with a state near mu") {
  World world;
  const Chain chain(blocks);
  const MatrixSystem system = chain.system(world.comm);
  DensityOptions options = tight(1e-4);
  options.prune = 1.0;
  options.sample = 0;
  options.krylov_tolerance = 1e-10;
  options.mu = chain.levels()[blocks - 1] + 0.01;
  options.solver = SolverKind::diagonalise;
  const double exact = density_matrix(system, options, world.context).energy;
  for (auto solver : {SolverKind::lanczos, SolverKind::newton_schulz, SolverKind::pade}) {
    options.solver = solver;
    CHECK(density_matrix(system, options, world.context).energy == Approx(exact).epsilon(1e-10));
  }
}

TEST_CASE("the energy-weighted density matrix of sign iterations, wherever the origin of energies is") {
  World world;
  const Chain chain(20);
  const auto levels = chain.levels();
  const double middle = 0.5 * (levels[19] + levels[20]);
  for (const double mu : {0.7, 1.0, 2.0, 3.0}) {
    MatrixSystem system = chain.system(world.comm);  // with the origin moved: H + (mu - middle) S
    BlockColumns moved(system.layout);
    for (int c : system.hamiltonian.columns()) {
      moved.start_column(c);
      for (int r : system.hamiltonian.column(c).rows) {
        double* block = moved.add_block(r);
        for (int k = 0; k < chain.size(r) * chain.size(c); ++k)
          block[k] = system.hamiltonian.block(r, c)[k] + (mu - middle) * system.overlap.block(r, c)[k];
      }
    }
    moved.finish();
    system.hamiltonian = std::move(moved);
    DensityOptions options = tight(1e-9);
    options.electrons = 40.0;
    options.mu = mu;
    options.energy_weighted = true;
    for (auto solver : {SolverKind::newton_schulz, SolverKind::pade, SolverKind::diagonalise}) {
      options.solver = solver;
      const auto result = density_matrix(system, options, world.context);
      INFO("mu " << mu << ", solver " << static_cast<int>(solver));
      CHECK(result.energy == Approx(band_energy(levels, 20) + 40.0 * (mu - middle)).margin(1e-7));
      CHECK(trace(*result.energy_weighted, system.overlap, world.comm) == Approx(result.energy).margin(1e-6));
      if (shows_no_states(solver))
        CHECK(std::isnan(result.gap_high - result.gap_low));  // a sign shows no states
      else
        CHECK(result.gap_high - result.gap_low == Approx(levels[20] - levels[19]).margin(1e-7));
    }
  }
}

TEST_CASE("grand-canonical, charged and at finite temperature") {
  World world;
  const Chain chain(blocks);
  const auto levels = chain.levels();
  const MatrixSystem system = chain.system(world.comm);
  DensityOptions options = tight(1e-9);
  SECTION("mu given") {
    options.mu = 0.5 * (levels[blocks - 1] + levels[blocks]);
    options.electrons = 0.0;
    const auto result = density_matrix(system, options, world.context);
    CHECK(result.mu == *options.mu);
    CHECK(result.energy == Approx(band_energy(levels, blocks)).epsilon(1e-9));
  }
  SECTION("finite temperature, electrons given") {
    options.kt = 0.05;
    options.electrons = 2.0 * blocks + 3.0;  // a charged chain, so that mu leaves the gap's middle
    const auto result = density_matrix(system, options, world.context);
    double low = -5.0, high = 5.0;
    const auto sums = [&](double mu) {
      std::array<double, 3> out{};
      for (double e : levels) {
        const double f = occupation(e, mu, options.kt);
        out[0] += 2.0 * f;
        out[1] += 2.0 * f * e;
        out[2] += 2.0 * options.kt * (f * std::log(f) + (1.0 - f) * std::log(1.0 - f));
      }
      return out;
    };
    for (int k = 0; k < 100; ++k) (sums(0.5 * (low + high))[0] < options.electrons ? low : high) = 0.5 * (low + high);
    CHECK(result.mu == Approx(low).epsilon(1e-7));
    CHECK(result.electrons == Approx(options.electrons).epsilon(1e-9));
    CHECK(result.energy == Approx(sums(low)[1]).epsilon(1e-7));
    CHECK(result.entropy_term == Approx(sums(low)[2]).epsilon(1e-6));
    CHECK(trace(result.density, system.overlap, world.comm) == Approx(options.electrons).epsilon(1e-6));
  }
}

TEST_CASE("any number of ranks gives the same result") {
  World world, alone(MPI_COMM_SELF);
  const Chain chain(blocks);
  DensityOptions options;
  options.eps = options.eps_overlap = 1e-4;
  options.electrons = 2.0 * blocks;
  for (int k = 0; k < 3; ++k) {
    options.precision = k == 1 ? Precision::float32 : Precision::float64;
    if (k == 2) {
      options.form = Form::local;
      options.solver = SolverKind::diagonalise;
    }
    const auto together = density_matrix(chain.system(world.comm), options, world.context);
    const auto single = density_matrix(chain.system(alone.comm), options, alone.context);
    CHECK(std::abs(together.energy - single.energy) < 1e-12 * std::abs(single.energy));
    CHECK(std::abs(together.electrons - single.electrons) < 1e-12 * single.electrons);
    CHECK(std::abs(together.mu - single.mu) < 1e-12);
    CHECK(std::abs(together.error.energy_change - single.error.energy_change) < 1e-12);
    double worst = 0.0;
    for (int c : together.density.columns())
      for (int r : together.density.column(c).rows)
        for (int k = 0; k < chain.size(r) * chain.size(c); ++k)
          worst = std::max(worst, std::abs(together.density.block(r, c)[k] - single.density.block(r, c)[k]));
    CHECK(worst < 1e-12);
  }
}
