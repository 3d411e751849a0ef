#include "core/numerics/symmetric_eigen.hpp"
#include "tests/catch.hpp"
#include "tests/plugins/submatrix/samples.hpp"

using namespace cambium;
using namespace cambium::submatrix::test;

TEST_CASE("a block column of a function of a symmetric matrix") {
  for (int n : {1, 2, 7, 40, 170, 200}) {
    const int width = std::min(n, 3), first = (n - width) / 2;
    const auto a = random_symmetric(n, static_cast<unsigned>(n));
    const Dense exact = dense_eigen(a, n);
    auto copy = a;
    SymmetricSpectrum spectrum;
    spectrum.compute(copy.data(), n, n, first, width);
    std::vector<double> sorted(spectrum.values().begin(), spectrum.values().end()), f(sorted.size()), out(static_cast<std::size_t>(width * n));
    for (std::size_t j = 0; j < f.size(); ++j) f[j] = std::exp(sorted[j]) + sorted[j] * (sorted[j] < 0.0);
    spectrum.column(f, out.data());
    std::sort(sorted.begin(), sorted.end());
    double values = 0.0, worst = 0.0, trace = 0.0, exact_trace = 0.0, scale = 0.0;
    for (int j = 0; j < n; ++j) values = std::max(values, std::abs(sorted[static_cast<std::size_t>(j)] - exact.value[static_cast<std::size_t>(j)]));
    for (int q = 0; q < width; ++q)
      for (int i = 0; i < n; ++i) {
        double sum = 0.0;
        for (int j = 0; j < n; ++j) {
          const double e = exact.value[static_cast<std::size_t>(j)];
          sum += exact.vector[static_cast<std::size_t>(i * n + j)] * exact.vector[static_cast<std::size_t>((first + q) * n + j)] * (std::exp(e) + e * (e < 0.0));
        }
        scale = std::max(scale, std::abs(sum));
        worst = std::max(worst, std::abs(sum - out[static_cast<std::size_t>(q * n + i)]));
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
  std::vector<double> d{2, 2, 2, 1, 1}, e{0, 0, 1e-300, 1, 0}, v(25);
  REQUIRE(tridiagonal_ql(5, d.data(), e.data(), v.data()));
  std::sort(d.begin(), d.end());
  CHECK(d[0] == Approx(0.0).margin(1e-15));
  for (int k = 1; k < 5; ++k) CHECK(d[static_cast<std::size_t>(k)] == Approx(2.0));
}
