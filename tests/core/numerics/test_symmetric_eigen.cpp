#include "core/numerics/symmetric_eigen.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/submatrix/samples.hpp"

using namespace cambium;
using namespace cambium::submatrix::test;

TEST_CASE("a block column of a function of a symmetric matrix") {
  for (int n : {1, 2, 7, 40, 170, 200}) {
    const int width = std::min(n, n == 170 ? 13 : 3), first = (n - width) / 2;
    const auto a = random_symmetric(n, static_cast<unsigned>(n));
    const Dense exact = dense_eigen(a, n);
    auto copy = a;
    SymmetricSpectrum spectrum;
    spectrum.compute(copy.data(), n, n, first, width);
    std::vector<double> sorted(spectrum.values().begin(), spectrum.values().end()), f(sorted.size()),
        out(static_cast<std::size_t>(width * n));
    for (std::size_t j = 0; j < f.size(); ++j) f[j] = std::exp(sorted[j]) + sorted[j] * (sorted[j] < 0.0);
    spectrum.column(f, out.data());
    std::sort(sorted.begin(), sorted.end());
    double values = 0.0, worst = 0.0, trace = 0.0, exact_trace = 0.0, scale = 0.0;
    for (int j = 0; j < n; ++j) values = std::max(values, std::abs(sorted[j] - exact.value[j]));
    for (int q = 0; q < width; ++q)
      for (int i = 0; i < n; ++i) {
        double sum = 0.0;
        for (int j = 0; j < n; ++j) {
          const double e = exact.value[j];
          sum += exact.vector[i * n + j] * exact.vector[(first + q) * n + j] * (std::exp(e) + e * (e < 0.0));
        }
        scale = std::max(scale, std::abs(sum));
        worst = std::max(worst, std::abs(sum - out[q * n + i]));
        if (i == first + q) exact_trace += sum;
      }
    for (std::size_t j = 0; j < f.size(); ++j)
      for (int q = 0; q < width; ++q) {
        const double c = spectrum.components()[j * static_cast<std::size_t>(width) + static_cast<std::size_t>(q)];
        trace += c * c * f[j];
      }
    CHECK(values < 1e-13 * n);
    CHECK(worst < 1e-13 * n * scale);
    CHECK(trace == Approx(exact_trace).epsilon(1e-12));
  }
}

TEST_CASE("tridiagonal QL on matrices that split and with equal eigenvalues") {
  std::vector<double> d{2, 2, 2, 1, 1}, e{0, 0, 1e-300, 1, 0};
  TridiagonalEigen eigen;
  REQUIRE(eigen.compute(5, d.data(), e.data()));
  std::sort(d.begin(), d.end());
  CHECK(d[0] == Approx(0.0).margin(1e-15));
  for (int k = 1; k < 5; ++k) CHECK(d[k] == Approx(2.0));
}

TEST_CASE("eigenvectors of a tridiagonal matrix are applied, and applied backwards") {
  constexpr int n = 61, w = TridiagonalEigen::row_width;
  std::vector<double> d(n), e(n), diagonal, off;
  for (std::size_t i = 0; i < n; ++i) {
    d[i] = std::sin(3.0 * static_cast<double>(i));
    e[i] = std::cos(static_cast<double>(i * i));
  }
  diagonal = d;
  off = e;
  TridiagonalEigen eigen;
  REQUIRE(eigen.compute(n, d.data(), e.data()));
  AlignedBuffer<double> x(n * w), y(n * w);
  for (std::size_t i = 0; i < n * w; ++i) x[i] = y[i] = std::sin(static_cast<double>(7 * i));
  // T x = V diag(d) V^T x
  eigen.to_eigenvectors(y.data());
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t k = 0; k < w; ++k) y[j * w + k] *= d[j];
  eigen.from_eigenvectors(y.data());
  double worst = 0.0;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < w; ++k) {
      double expected = diagonal[i] * x[i * w + k];
      if (i > 0) expected += off[i - 1] * x[(i - 1) * w + k];
      if (i + 1 < n) expected += off[i] * x[(i + 1) * w + k];
      worst = std::max(worst, std::abs(expected - y[i * w + k]));
    }
  CHECK(worst < 1e-13);
}
