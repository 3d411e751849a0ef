#pragma once
#include "core/parallel/kokkos.hpp"

namespace cambium {

/// The library that multiplies matrices on the device: "cuBLAS" with CUDA, "rocBLAS" with HIP, "" where this build has
/// none and gemm() runs loops of ours.
const char* vendor_products();

/// Row-major C[m][n] = op(A) op(B) + beta C of matrices in the device's memory, in the order of kernels of ExecSpace
/// and without waiting for it; float in full precision. InternalError when there is no such library, or when it
/// refuses.
template <class T>
void vendor_gemm(bool transpose_a, bool transpose_b, int m, int n, int k, const T* a, int lda, const T* b, int ldb,
                 T beta, T* c, int ldc);

}  // namespace cambium
