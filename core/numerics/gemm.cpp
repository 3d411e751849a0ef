#include "core/numerics/gemm.hpp"

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "core/base/recorder.hpp"
#include "core/numerics/vendor_gemm.hpp"
#include "core/parallel/host_threads.hpp"

// The Fortran symbols are the same in every BLAS; a C header is not.
extern "C" {
void dgemm_(const char* trans_a, const char* trans_b, const int* m, const int* n, const int* k, const double* alpha,
            const double* a, const int* lda, const double* b, const int* ldb, const double* beta, double* c,
            const int* ldc);
void sgemm_(const char* trans_a, const char* trans_b, const int* m, const int* n, const int* k, const float* alpha,
            const float* a, const int* lda, const float* b, const int* ldb, const float* beta, float* c,
            const int* ldc);
}

namespace cambium {

/// Vendor products are asynchronous; a profile has to wait for completion.
static void wait_for_profile() {
  if (recorder()) Kokkos::fence();
}

/// 2 m n k operations; each matrix once through memory, C twice if it is updated.
template <class T>
static Amount product_amount(double m, double n, double k, bool add) {
  return {2.0 * m * n * k, static_cast<double>(sizeof(T)) * (m * k + k * n + (add ? 2.0 : 1.0) * m * n),
          static_cast<int>(sizeof(T))};
}

template <class T>
void portable_gemm(bool transpose_b, int m, int n, int k, const T* a, int lda, const T* b, int ldb, T beta, T* c,
                   int ldc) {
  constexpr int strip = 8;  // columns per work item: each entry of A is read once for all of them
  const int strips = (n + strip - 1) / strip;
  const std::int64_t row_step = transpose_b ? 1 : ldb, column_step = transpose_b ? ldb : 1;
  using Items = Kokkos::RangePolicy<ExecSpace, Kokkos::IndexType<std::int64_t>>;
  Kokkos::parallel_for(
      "gemm", Items(0, static_cast<std::int64_t>(m) * strips), KOKKOS_LAMBDA(const std::int64_t item) {
        const std::int64_t row = item / strips;
        const int first = static_cast<int>(item % strips) * strip, width = n - first < strip ? n - first : strip;
        T sums[strip] = {};
        for (int p = 0; p < k; ++p) {
          const T value = a[row * lda + p];
          for (int q = 0; q < width; ++q) sums[q] += value * b[p * row_step + (first + q) * column_step];
        }
        T* out = c + row * ldc + first;
        for (int q = 0; q < width; ++q) out[q] = sums[q] + (beta == T(0) ? T(0) : beta * out[q]);
      });
}

/// BLAS is column-major, so it computes the transposed product.
template <class T>
static void blas_gemm(bool transpose_a, bool transpose_b, int m, int n, int k, T alpha, const T* a, int lda, const T* b,
                      int ldb, T beta, T* c, int ldc) {
  const char *trans_b = transpose_b ? "T" : "N", *trans_a = transpose_a ? "T" : "N";
  if constexpr (std::is_same_v<T, double>)
    dgemm_(trans_b, trans_a, &n, &m, &k, &alpha, b, &ldb, a, &lda, &beta, c, &ldc);
  else
    sgemm_(trans_b, trans_a, &n, &m, &k, &alpha, b, &ldb, a, &lda, &beta, c, &ldc);
}

template <class T>
void host_gemm(bool transpose_a, bool transpose_b, int m, int n, int k, T alpha, const T* a, int lda, const T* b,
               int ldb, T beta, T* c, int ldc) {
  if (m == 0 || n == 0) return;
  const KernelRegion region("gemm", WorkKind::matrix, product_amount<T>(m, n, k, beta != T(0)));
  // The longer side of C is shared out, so that each thread's part is as square as can be.
  constexpr std::int64_t enough = 100'000;  // operations: some microseconds, as a start of the threads takes
  const bool rows = m >= n;
  const std::int64_t each = 2 * std::int64_t{rows ? n : m} * k;
  in_shares(rows ? m : n, 1 + enough / std::max<std::int64_t>(each, 1), [&](std::int64_t first, std::int64_t last) {
    const int count = static_cast<int>(last - first);
    if (rows)
      blas_gemm(transpose_a, transpose_b, count, n, k, alpha, a + (transpose_a ? first : first * lda), lda, b, ldb,
                beta, c + first * ldc, ldc);
    else
      blas_gemm(transpose_a, transpose_b, m, count, k, alpha, a, lda, b + (transpose_b ? first * ldb : first), ldb,
                beta, c + first, ldc);
  });
}

template <class T>
void gemm(bool transpose_b, int m, int n, int k, const T* a, int lda, const T* b, int ldb, T beta, T* c, int ldc) {
  if (m == 0 || n == 0) return;
  if constexpr (device_is_host) {
    host_gemm<T>(false, transpose_b, m, n, k, T(1), a, lda, b, ldb, beta, c, ldc);
  } else {
    const KernelRegion region("gemm", WorkKind::matrix, product_amount<T>(m, n, k, beta != T(0)));
    if (*vendor_products())
      vendor_gemm(false, transpose_b, m, n, k, a, lda, b, ldb, beta, c, ldc);
    else
      portable_gemm(transpose_b, m, n, k, a, lda, b, ldb, beta, c, ldc);
    wait_for_profile();
  }
}

template <class T>
void gemm_transposed_a(int m, int n, int k, const T* a, int lda, const T* b, int ldb, T beta, T* c, int ldc) {
  if (m == 0 || n == 0) return;
  if constexpr (device_is_host) {
    host_gemm<T>(true, false, m, n, k, T(1), a, lda, b, ldb, beta, c, ldc);
  } else {
    const KernelRegion region("gemm", WorkKind::matrix, product_amount<T>(m, n, k, beta != T(0)));
    if (*vendor_products()) {
      vendor_gemm(true, false, m, n, k, a, lda, b, ldb, beta, c, ldc);
      return wait_for_profile();
    }
    using Items = Kokkos::RangePolicy<ExecSpace, Kokkos::IndexType<std::int64_t>>;
    Kokkos::parallel_for(
        "gemm: transposed", Items(0, static_cast<std::int64_t>(m) * n), KOKKOS_LAMBDA(const std::int64_t item) {
          const std::int64_t row = item / n, column = item % n;
          T sum = 0;
          for (int p = 0; p < k; ++p)
            sum += a[static_cast<std::int64_t>(p) * lda + row] * b[static_cast<std::int64_t>(p) * ldb + column];
          T& out = c[row * ldc + column];
          out = sum + (beta == T(0) ? T(0) : beta * out);
        });
  }
}

template void gemm_transposed_a(int, int, int, const double*, int, const double*, int, double, double*, int);
template void gemm_transposed_a(int, int, int, const float*, int, const float*, int, float, float*, int);
template void gemm(bool, int, int, int, const double*, int, const double*, int, double, double*, int);
template void gemm(bool, int, int, int, const float*, int, const float*, int, float, float*, int);
template void host_gemm(bool, bool, int, int, int, double, const double*, int, const double*, int, double, double*,
                        int);
template void host_gemm(bool, bool, int, int, int, float, const float*, int, const float*, int, float, float*, int);
template void portable_gemm(bool, int, int, int, const double*, int, const double*, int, double, double*, int);
template void portable_gemm(bool, int, int, int, const float*, int, const float*, int, float, float*, int);

}  // namespace cambium
