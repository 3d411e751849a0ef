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

/// Transforms along the first index have the bits of those along rows.
void compare_columns(int n, int columns) {
  const RealFft fft(n);
  const int modes = fft.modes(), pitch = columns + 3;
  View<double**> rows("rows", columns, n), spectrum("spectrum", columns, 2 * modes), x("x", n, pitch),
      modes_of("modes", 2 * modes, pitch), back("back", n, pitch);
  auto a = Kokkos::create_mirror_view(rows);
  auto b = Kokkos::create_mirror_view(x);
  for (int c = 0; c < columns; ++c)
    for (int j = 0; j < n; ++j) a(c, j) = b(j, c) = Random4(12, Stream::test, c, j).normal(0);
  Kokkos::deep_copy(rows, a);
  Kokkos::deep_copy(x, b);
  fft.forward(rows, 0, spectrum, modes, columns);
  fft.forward_columns(x.data(), pitch, modes_of.data(), pitch, columns);
  fft.backward_columns(modes_of.data(), pitch, back.data(), pitch, columns);
  fft.backward(spectrum, modes, rows, 0, columns);
  const auto by_rows = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), spectrum);
  const auto by_columns = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), modes_of);
  const auto rows_back = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), rows);
  const auto columns_back = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), back);
  int wrong = 0;
  for (int c = 0; c < columns; ++c) {
    for (int k = 0; k < 2 * modes; ++k) wrong += by_rows(c, k) != by_columns(k, c);
    for (int j = 0; j < n; ++j) wrong += rows_back(c, j) != columns_back(j, c);
  }
  INFO("n = " << n << ", columns = " << columns);
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("transforms of columns have the bits of those of rows") {
  for (int n : {2, 4, 6, 12, 30, 64, 90}) compare_columns(n, 16);
  compare_columns(64, 8);
}

TEST_CASE("real transforms are the sums that define them and are undone") {
  for (int n : {2, 4, 6, 8, 10, 16, 32, 48, 64, 90, 98, 100, 122, 256, 360, 512}) compare(n, 5);
  compare(64, 1);
  compare(64, 8);
  compare(60, 19);
}

TEST_CASE("lengths that cannot be transformed are refused") {
  CHECK_THROWS_WITH(RealFft(7), "a row of 7 values cannot be transformed: take an even number");
  CHECK_THROWS_WITH(
      RealFft(2 * 67),
      "a row of 134 values cannot be transformed: 134 has a prime factor above 61; take a number made of 2, 3 and 5");
}
