#include <complex>

#include "core/base/error.hpp"
#include "core/numerics/real_fft.hpp"
#include "core/parallel/random.hpp"
#include "tests/catch.hpp"

using namespace cambium;

namespace {

/// Transforms random rows and compares with the sum that defines the transform; then goes back.
void compare(int n, int rows) {
  const RealFft fft(n);
  const int first = 3, imaginary = fft.modes() + 1;
  View<double**> x("x", rows, n + 7), spectrum("spectrum", rows, imaginary + fft.modes()), back("back", rows, n + 7);
  auto h = Kokkos::create_mirror_view(x);
  for (int r = 0; r < rows; ++r)
    for (int j = 0; j < n; ++j) h(r, first + j) = Random4(11, Stream::test, r, j).normal(0);
  Kokkos::deep_copy(x, h);
  fft.forward(x, first, spectrum, imaginary, rows);
  fft.backward(spectrum, imaginary, back, first, rows);
  auto s = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), spectrum);
  auto b = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), back);
  double worst = 0.0, worst_back = 0.0;
  for (int r = 0; r < rows; ++r) {
    for (int k = 0; k < fft.modes(); ++k) {
      std::complex<double> sum = 0.0;
      for (int j = 0; j < n; ++j)
        sum += h(r, first + j) * std::polar(1.0, -2.0 * M_PI * (static_cast<long>(j) * k % n) / n);
      worst = std::max(worst, std::abs(sum - std::complex<double>(s(r, k), s(r, imaginary + k))));
    }
    for (int j = 0; j < n; ++j) worst_back = std::max(worst_back, std::abs(b(r, first + j) - h(r, first + j)));
  }
  INFO("n = " << n << ", rows = " << rows);
  CHECK(worst < 1e-13 * n);
  CHECK(worst_back < 1e-13);
}

}  // namespace

TEST_CASE("real transforms are the sums that define them and are undone") {
  for (int n : {2, 4, 6, 8, 10, 16, 32, 48, 64, 90, 98, 100, 122, 256, 360, 512}) compare(n, 5);
  compare(64, 1);
  compare(64, 8);
  compare(60, 19);
}

TEST_CASE("lengths that cannot be transformed are refused") {
  CHECK_THROWS_WITH(RealFft(7), "a row of 7 numbers cannot be transformed: take an even number");
  CHECK_THROWS_WITH(
      RealFft(2 * 67),
      "a row of 134 numbers cannot be transformed: 134 has a prime factor above 61; take a number made of 2, 3 and 5");
}
