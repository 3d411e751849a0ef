#pragma once
#include "core/parallel/kokkos.hpp"

namespace cambium {

/// C = A op(B) + beta C for row-major matrices in the memory of the kernels: A is m x k, op(B) is k x n (stored n x k
/// when `transpose_b`), C is m x n; ld* are row lengths in elements. T is double or float. On host back ends this is
/// BLAS, elsewhere the vendor's library (core/numerics) or portable_gemm(). Data that are in host memory on every back
/// end, as in all of training, use host_gemm().
template <class T>
void gemm(bool transpose_b, int m, int n, int k, const T* a, int lda, const T* b, int ldb, T beta, T* c, int ldc);

/// C = A^T B + beta C: A is k x m, B is k x n, C is m x n, else as above. The gradient of a layer's weights.
template <class T>
void gemm_transposed_a(int m, int n, int k, const T* a, int lda, const T* b, int ldb, T beta, T* c, int ldc);

/// gemm() as one Kokkos kernel, for devices whose vendor library is not linked and as the oracle of the other.
template <class T>
void portable_gemm(bool transpose_b, int m, int n, int k, const T* a, int lda, const T* b, int ldb, T beta, T* c,
                   int ldc);

/// C = alpha op(A) op(B) + beta C in host memory, whatever the back end: BLAS, a part of C on each thread
/// (core/parallel). op(A) is m x k (stored k x m when `transpose_a`), op(B) is k x n (stored n x k when
/// `transpose_b`).
template <class T>
void host_gemm(bool transpose_a, bool transpose_b, int m, int n, int k, T alpha, const T* a, int lda, const T* b,
               int ldb, T beta, T* c, int ldc);

}  // namespace cambium
