// Purification and submatrices of a ring whose levels are known, beside a dense diagonalisation, on any number of
// ranks.
#include <numeric>

#include "plugins/submatrix/blocks/symmetric_product.hpp"
#include "plugins/submatrix/density/dense_density.hpp"
#include "plugins/submatrix/density/purification_steps.hpp"
#include "plugins/submatrix/matrices/ring.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/submatrix/samples.hpp"

using namespace cambium;
using namespace cambium::submatrix;
using namespace cambium::submatrix::test;

namespace {

RingInput small_ring(double gap) { return {.atoms = 120, .functions = 3, .gap = gap, .hopping = 0.3, .range = 0.5}; }

DensityOptions purified(double electrons, Polynomial polynomial, double threshold) {
  DensityOptions out;
  out.eps = out.eps_overlap = threshold;
  out.electrons = electrons;
  out.sample = 0;
  out.purification = PurificationOptions{.polynomial = polynomial, .threshold = threshold};
  return out;
}

/// Sum over own columns of the squared difference to a dense row-major matrix, of all ranks, over its squared norm.
double relative_difference(const BlockColumns& matrix, const std::vector<double>& dense, const Comm& comm) {
  const BlockLayout& layout = matrix.layout();
  const auto n = static_cast<std::size_t>(layout.dimension());
  double sum = 0.0, all = 0.0;
  for (int column : matrix.columns())
    for (int row = 0; row < layout.blocks(); ++row) {
      const double* block = matrix.block(row, column);
      for (int i = 0; i < layout.size(row); ++i)
        for (int j = 0; j < layout.size(column); ++j) {
          const double exact =
                           dense[(static_cast<std::size_t>(layout.offset(row)) + i) * n + layout.offset(column) + j],
                       found = block ? block[i * layout.size(column) + j] : 0.0;
          sum += (found - exact) * (found - exact);
          all += exact * exact;
        }
    }
  return std::sqrt(comm.sum(sum) / comm.sum(all));
}

}  // namespace

TEST_CASE("a ring has the levels of its formula") {
  World world;
  for (const double gap : {0.2, 0.02, 0.0}) {
    const RingInput input = small_ring(gap);
    const MatrixSystem system = ring_matrices(input, 7, world.comm);
    const int n = 3 * input.atoms;
    std::int64_t bytes = 0;
    const Dense exact = dense_eigen(dense_matrix(system.hamiltonian, system.ranges, world.comm, bytes), n);
    const std::vector<double> levels = ring_levels(input);
    REQUIRE(std::ssize(levels) == n);
    double worst = 0.0;
    for (int k = 0; k < n; ++k) worst = std::max(worst, std::abs(levels[k] - exact.value[k]));
    CHECK(worst < 1e-12);
    CHECK(*system.reference.lumo - *system.reference.homo == Approx(gap).margin(2e-6));
    const int pairs = static_cast<int>(system.electrons) / 2;
    CHECK(*system.reference.band_energy ==
          Approx(2.0 * std::accumulate(exact.value.begin(), exact.value.begin() + pairs, 0.0)).epsilon(1e-12));
  }
}

TEST_CASE("the product of symmetric sparse matrices is that of dense ones") {
  World world;
  const RingInput input{.atoms = 40, .functions = 2, .gap = 0.1, .hopping = 0.3, .range = 0.3};
  const MatrixSystem system = ring_matrices(input, 3, world.comm);
  std::int64_t bytes = 0;
  double flops = 0.0;
  const BlockColumns &h = system.hamiltonian,
                     square = symmetric_product(h, h, system.ranges, world.comm, {}, bytes, flops),
                     mixed = combination(0.5, 2.0, h, -3.0, square),
                     cube = symmetric_product(square, mixed, system.ranges, world.comm, {}, bytes, flops);
  const int n = 80;
  const auto a = dense_matrix(h, system.ranges, world.comm, bytes);
  const auto times = [n](const std::vector<double>& x, const std::vector<double>& y) {
    std::vector<double> out(x.size(), 0.0);
    for (int i = 0; i < n; ++i)
      for (int k = 0; k < n; ++k)
        for (int j = 0; j < n; ++j) out[i * n + j] += x[i * n + k] * y[k * n + j];
    return out;
  };
  const auto a2 = times(a, a);
  std::vector<double> m(a.size());
  for (int i = 0; i < n * n; ++i) m[i] = 2.0 * a[i] - 3.0 * a2[i] + (i % (n + 1) == 0 ? 0.5 : 0.0);
  CHECK(relative_difference(square, a2, world.comm) < 1e-14);
  CHECK(relative_difference(cube, times(a2, m), world.comm) < 1e-14);
  double diagonal = 0.0, inner = 0.0;
  for (int i = 0; i < n; ++i) diagonal += a2[i * n + i];
  for (int i = 0; i < n * n; ++i) inner += a2[i] * m[i];
  CHECK(trace(square, world.comm) == Approx(diagonal).epsilon(1e-13));
  CHECK(trace_of_product(square, mixed, world.comm) == Approx(inner).epsilon(1e-13));
  // Half of the multiplications of a product that does not use symmetry, and those of the diagonal.
  double half = 0.0, all = 0.0;
  symmetric_product(h, h, system.ranges, world.comm, {}, bytes, half);
  for (int column : h.columns())
    for (int k : h.column(column).rows)
      all += 16.0 * static_cast<double>(system.hamiltonian.find(k) >= 0 ? h.column(k).rows.size() : 0);
  if (world.comm.size() == 1) CHECK(half < 0.56 * all);
}

TEST_CASE("purification: energy, trace, idempotency and D against a dense diagonalisation") {
  World world;
  for (const double gap : {0.2, 0.02})
    for (const Polynomial polynomial : {Polynomial::trs4, Polynomial::canonical}) {
      const MatrixSystem system = ring_matrices(small_ring(gap), 7, world.comm);
      const int n = static_cast<int>(system.layout->dimension()), pairs = static_cast<int>(system.electrons) / 2;
      std::int64_t bytes = 0;
      const Dense exact = dense_eigen(dense_matrix(system.hamiltonian, system.ranges, world.comm, bytes), n);
      std::vector<double> d(static_cast<std::size_t>(n) * n, 0.0);
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j)
          for (int k = 0; k < pairs; ++k) d[i * n + j] += exact.vector[i * n + k] * exact.vector[j * n + k];
      double before = 1e9;
      for (const double threshold : {1e-2, 1e-4, 1e-6, 1e-10}) {
        DensityOptions options = purified(system.electrons, polynomial, threshold);
        options.orthogonal = options.energy_weighted = true;
        const DensityResult found = density_matrix(system, options, world.context);
        REQUIRE(found.purification);
        const double error = relative_difference(found.density, d, world.comm);
        CHECK(found.purification->converged);
        CHECK(error < 0.6 * before);
        CHECK(std::abs(found.energy - *system.reference.band_energy) / system.atoms < 10.0 * threshold);
        CHECK(found.purification->idempotency < 20.0 * threshold);
        before = error;
        if (threshold > 1e-9) continue;
        CHECK(error < 1e-8);
        CHECK(found.electrons == Approx(system.electrons).epsilon(1e-10));
        CHECK(found.energy == Approx(*system.reference.band_energy).epsilon(1e-12));
        CHECK(2.0 * trace(*found.energy_weighted, world.comm) == Approx(found.energy).epsilon(1e-9));
        CHECK(found.mu > exact.value[pairs - 1]);
        CHECK(found.mu < exact.value[pairs]);
        // A bound: no level lies inside, and it is no poor one.
        CHECK(found.gap_low >= exact.value[pairs - 1] - 1e-9);
        CHECK(found.gap_high <= exact.value[pairs] + 1e-9);
        CHECK(found.gap_high - found.gap_low > 0.5 * gap);
      }
    }
}

TEST_CASE("purification with an overlap: the chain of the submatrix method's tests") {
  World world;
  const Chain chain(60);
  const MatrixSystem system = chain.system(world.comm);
  const auto levels = chain.levels();
  const double exact = 2.0 * std::accumulate(levels.begin(), levels.begin() + 60, 0.0);
  for (const Polynomial polynomial : {Polynomial::trs4, Polynomial::canonical}) {
    const DensityResult found = density_matrix(system, purified(120.0, polynomial, 1e-9), world.context);
    CHECK(found.energy == Approx(exact).epsilon(1e-8));
    CHECK(2.0 * trace_of_product(found.density, system.overlap, world.comm) == Approx(120.0).epsilon(1e-8));
    CHECK(2.0 * trace_of_product(found.density, system.hamiltonian, world.comm) == Approx(exact).epsilon(1e-7));
  }
}

TEST_CASE("purification of a metal ends and says that it did not converge") {
  World world;
  const MatrixSystem system = ring_matrices(small_ring(0.0), 7, world.comm);
  DensityOptions options = purified(system.electrons, Polynomial::trs4, 1e-8);
  options.orthogonal = true;
  options.purification->most = 40;
  const DensityResult found = density_matrix(system, options, world.context);
  CHECK(found.purification->iterations <= 40);
  CHECK(!found.purification->converged);
}

TEST_CASE("what purification refuses") {
  DensityOptions options = purified(7.0, Polynomial::trs4, 1e-5);
  CHECK_THROWS_WITH(check_purification(options),
                    "electrons is 7: purification fills states with two electrons each; give an even number, or write "
                    "method: submatrix with a temperature");
  World world;
  CHECK_THROWS_WITH(
      ring_matrices({.atoms = 40, .functions = 2, .gap = 0.9, .hopping = 0.2, .range = 0.3}, 1, world.comm),
      "ring.gap is 0.9 hartree, too wide for bands of hopping 0.2 hartree; give a smaller gap or a larger "
      "hopping");
  CHECK_THROWS_WITH(
      ring_matrices({.atoms = 40, .functions = 2, .gap = 0.1, .hopping = 0.2, .range = 2.0}, 1, world.comm),
      "ring.atoms is 40, but couplings of range 2 reach 55 atoms to either side; give more atoms or a "
      "smaller range");
}
