#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/numerics/gemm.hpp"
#include "core/numerics/packed_gemm.hpp"
#include "core/parallel/host_threads.hpp"
#include "core/parallel/random.hpp"
#include "tests/catch.hpp"

using namespace cambium;

namespace {

template <class T>
View<T*> random_values(int n, std::uint64_t id) {
  View<T*> values("values", n);
  auto host = Kokkos::create_mirror_view(values);
  for (int k = 0; k < n; ++k) host(k) = static_cast<T>(Random4(5, Stream::test, id, k).normal(0));
  Kokkos::deep_copy(values, host);
  return values;
}

template <class T>
void compare(int m, int n, int k, bool transpose, T beta, double tolerance) {
  const int lda = k + 3, ldb = (transpose ? k : n) + 2, ldc = n + 5;
  auto a = random_values<T>(m * lda, 1), b = random_values<T>((transpose ? n : k) * ldb, 2),
       c = random_values<T>(m * ldc, 3);
  View<T*> c1("c1", m * ldc), c2("c2", m * ldc);
  Kokkos::deep_copy(c1, c);
  Kokkos::deep_copy(c2, c);
  gemm(transpose, m, n, k, a.data(), lda, b.data(), ldb, beta, c1.data(), ldc);
  portable_gemm(transpose, m, n, k, a.data(), lda, b.data(), ldb, beta, c2.data(), ldc);
  auto ha = Kokkos::create_mirror_view(a), hb = Kokkos::create_mirror_view(b), hc = Kokkos::create_mirror_view(c);
  auto h1 = Kokkos::create_mirror_view(c1), h2 = Kokkos::create_mirror_view(c2);
  Kokkos::deep_copy(ha, a);
  Kokkos::deep_copy(hb, b);
  Kokkos::deep_copy(hc, c);
  Kokkos::deep_copy(h1, c1);
  Kokkos::deep_copy(h2, c2);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < ldc; ++j) {
      double expected = hc(i * ldc + j);
      if (j < n) {
        expected *= beta;
        for (int p = 0; p < k; ++p)
          expected += double(ha(i * lda + p)) * (transpose ? hb(j * ldb + p) : hb(p * ldb + j));
      }
      REQUIRE(h1(i * ldc + j) == Approx(expected).margin(tolerance));
      REQUIRE(h2(i * ldc + j) == Approx(expected).margin(tolerance));
    }
}

/// PackedMatrix against portable_gemm(), with guard columns around what may be written.
template <class T>
void compare_packed(int m, int n, int k, bool transpose, bool add, double tolerance) {
  const int lda = k + 3, ldb = (transpose ? k : n) + 2, ldc = n + 5;
  auto a = random_values<T>(m * lda, 1), b = random_values<T>((transpose ? n : k) * ldb, 2),
       c = random_values<T>(m * ldc, 3);
  auto packed = random_values<T>(m * ldc, 3);
  auto hb = Kokkos::create_mirror_view(b);
  Kokkos::deep_copy(hb, b);
  const PackedMatrix<T> matrix(transpose, k, n, hb.data(), ldb);
  matrix.multiply(m, a.data(), lda, add, packed.data(), ldc);
  portable_gemm(transpose, m, n, k, a.data(), lda, b.data(), ldb, add ? T(1) : T(0), c.data(), ldc);
  auto expected = Kokkos::create_mirror_view(c), got = Kokkos::create_mirror_view(packed);
  Kokkos::deep_copy(expected, c);
  Kokkos::deep_copy(got, packed);
  double worst = 0.0;
  for (int i = 0; i < m * ldc; ++i) worst = std::max(worst, std::abs(double(got(i)) - double(expected(i))));
  INFO(m << " x " << n << " x " << k << (transpose ? " transposed" : "") << (add ? " added" : ""));
  REQUIRE(worst < tolerance);
}

}  // namespace

TEST_CASE("a packed matrix multiplies as a plain one does, and writes nothing else") {
  // Below, at and above the sizes of register tiles (8 x 24 and 8 x 48), row blocks (64) and depth blocks (400).
  for (auto [m, n, k] :
       {std::array{1, 1, 1}, {7, 5, 3}, {8, 24, 40}, {9, 25, 41}, {16, 48, 400}, {65, 49, 401}, {130, 100, 850}})
    for (bool transpose : {false, true})
      for (bool add : {false, true}) {
        compare_packed<double>(m, n, k, transpose, add, 1e-11);
        compare_packed<float>(m, n, k, transpose, add, 1e-3);
      }
}

TEST_CASE("matrix products agree with three plain loops") {
  for (auto [m, n, k] : {std::array{1, 1, 1}, {7, 5, 3}, {33, 17, 40}, {64, 240, 25}, {5, 1, 240}})
    for (bool transpose : {false, true})
      for (double beta : {0.0, 1.0, -0.5}) {
        compare<double>(m, n, k, transpose, beta, 1e-12);
        compare<float>(m, n, k, transpose, static_cast<float>(beta), 1e-4);
      }
}

TEST_CASE("a product with the transpose of the left matrix agrees with three plain loops") {
  for (auto [m, n, k] : {std::array{1, 1, 1}, {7, 5, 3}, {25, 50, 300}, {240, 1, 17}})
    for (double beta : {0.0, 1.0, -0.5}) {
      const int lda = m + 3, ldb = n + 2, ldc = n + 1;
      auto a = random_values<double>(k * lda, 1), b = random_values<double>(k * ldb, 2),
           c = random_values<double>(m * ldc, 3);
      auto ha = Kokkos::create_mirror_view(a), hb = Kokkos::create_mirror_view(b), before = Kokkos::create_mirror(c);
      Kokkos::deep_copy(ha, a);
      Kokkos::deep_copy(hb, b);
      Kokkos::deep_copy(before, c);
      gemm_transposed_a(m, n, k, a.data(), lda, b.data(), ldb, beta, c.data(), ldc);
      auto after = Kokkos::create_mirror(c);
      Kokkos::deep_copy(after, c);
      for (int i = 0; i < m; ++i)
        for (int j = 0; j < ldc; ++j) {
          double expected = before(i * ldc + j) * (j < n ? beta : 1.0);
          for (int p = 0; p < k && j < n; ++p) expected += ha(p * lda + i) * hb(p * ldb + j);
          REQUIRE(after(i * ldc + j) == Approx(expected).margin(1e-12));
        }
    }
}

TEST_CASE("products of host memory are those of plain loops, however many threads share them") {
  for (const int threads : {1, 2, 3})
    for (const bool transpose_a : {false, true})
      for (const bool transpose_b : {false, true})
        for (const auto& [m, n, k] : {std::array{70, 45, 33}, std::array{31, 150, 40}, std::array{3, 2, 5}}) {
          const AsIfThreads as_if(threads);
          const int lda = (transpose_a ? m : k) + 3, ldb = (transpose_b ? k : n) + 2, ldc = n + 5;
          const auto numbers = [](int count, std::uint64_t id) {
            std::vector<double> out;
            for (int i = 0; i < count; ++i) out.push_back(Random4(5, Stream::test, id, i).normal(0));
            return out;
          };
          const auto a = numbers((transpose_a ? k : m) * lda, 1), b = numbers((transpose_b ? n : k) * ldb, 2);
          auto c = numbers(m * ldc, 3);
          const auto before = c;
          host_gemm(transpose_a, transpose_b, m, n, k, 0.5, a.data(), lda, b.data(), ldb, 2.0, c.data(), ldc);
          for (int i = 0; i < m; ++i)
            for (int j = 0; j < ldc; ++j) {
              const auto at = static_cast<std::size_t>(i * ldc + j);
              double expected = before[at];
              if (j < n) {
                expected *= 2.0;
                for (int p = 0; p < k; ++p)
                  expected += 0.5 * a[static_cast<std::size_t>(transpose_a ? p * lda + i : i * lda + p)] *
                              b[static_cast<std::size_t>(transpose_b ? j * ldb + p : p * ldb + j)];
              }
              REQUIRE(c[at] == Approx(expected).margin(1e-12));
            }
        }
}
