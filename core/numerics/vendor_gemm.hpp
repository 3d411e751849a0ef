#pragma once
#include "core/parallel/kokkos.hpp"

namespace cambium {

/// Name of the device's matrix library: "cuBLAS" with CUDA, "rocBLAS" with HIP, "" if this build has none and gemm()
/// runs portable loops.
const char* vendor_products();

/// Row-major C[m][n] = op(A) op(B) + beta C of matrices in device memory, asynchronous in the stream of ExecSpace;
/// float in full precision. InternalError if there is no such library, or if it fails.
template <class T>
void vendor_gemm(bool transpose_a, bool transpose_b, int m, int n, int k, const T* a, int lda, const T* b, int ldb,
                 T beta, T* c, int ldc);

}  // namespace cambium
