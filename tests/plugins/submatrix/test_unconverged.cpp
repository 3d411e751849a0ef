// Submatrices for which the Krylov blocks are not enough.
#include "tests/catch.hpp"
#include "tests/plugins/submatrix/dense_samples.hpp"

using namespace cambium;
using namespace cambium::submatrix;
using namespace cambium::submatrix::test;

namespace {

/// Every block sees every other, levels are dense around the narrow gap in the middle: no short Krylov space knows on
/// which side a level lies.
DensePair narrow(int blocks, int size, double gap, unsigned seed) {
  DensePair out;
  out.sizes.assign(blocks, size);
  const int n = blocks * size;
  const Dense eigen = dense_eigen(random_symmetric(n, seed), n);
  out.h.assign(n * n, 0.0);
  out.s.assign(n * n, 0.0);
  for (int k = 0; k < n; ++k) {
    const double level = (k < n / 2 ? -0.5 * gap : 0.5 * gap) + 0.8 * (2 * k + 1 - n) / n;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) out.h[i * n + j] += level * eigen.vector[i * n + k] * eigen.vector[j * n + k];
  }
  for (int i = 0; i < n; ++i) out.s[i * n + i] = 1.0;
  return out;
}

}  // namespace

TEST_CASE("a submatrix that block Lanczos does not solve is diagonalised, and the run says how many are") {
  World world;
  for (const auto& [blocks, size, precision] :
       {std::tuple(150, 1, Precision::float64), std::tuple(90, 2, Precision::float64),
        std::tuple(150, 1, Precision::float32)}) {
    const DensePair pair = narrow(blocks, size, 1e-3, 4);
    const auto levels = pair.levels();
    const int n = pair.n();
    DensityOptions options;
    options.orthogonal = true;
    options.eps = 1e-6;
    options.electrons = n;
    options.precision = precision;
    options.sample = 0;
    const auto result = density_matrix(pair.system(world.comm, n), options, world.context);
    const double exact = band_energy(levels, n / 2);
    INFO(blocks << " blocks of " << size << ": " << result.columns.diagonalised << " diagonalised, E off by "
                << result.energy - exact << ", N by " << result.electrons - n << ", residual "
                << result.columns.worst_residual);
    const double accuracy = precision == Precision::float32 ? 1e-5 : 1e-9;
    CHECK(std::abs(result.electrons - n) < accuracy * n);
    CHECK(std::abs(result.energy - exact) < accuracy * n);
    CHECK(result.mu > levels[static_cast<std::size_t>(n / 2) - 1]);
    CHECK(result.mu < levels[n / 2]);
    CHECK(result.columns.diagonalised > blocks / 2);
    CHECK(result.columns.largest_diagonalised == n);
    CHECK(result.columns.worst_residual <= 1e-4);
  }
}

TEST_CASE("where Krylov spaces converge nothing is diagonalised") {
  World world;
  const Chain chain(60);
  DensityOptions options;
  options.electrons = 120.0;
  CHECK(density_matrix(chain.system(world.comm), options, world.context).columns.diagonalised == 0);
}
