#include "core/numerics/vendor_gemm.hpp"

#include <fmt/format.h>

#include <type_traits>

#include "core/base/error.hpp"

#if defined(CAMBIUM_CUBLAS)
#include <cublas_v2.h>
#elif defined(CAMBIUM_ROCBLAS)
#include <rocblas/rocblas.h>
#endif

namespace cambium {
namespace {

#if defined(CAMBIUM_CUBLAS)
#define CAMBIUM_VENDOR "cuBLAS"
using Handle = cublasHandle_t;
constexpr auto plain = CUBLAS_OP_N, transposed = CUBLAS_OP_T;
constexpr auto good = CUBLAS_STATUS_SUCCESS;
auto create(Handle* handle) { return cublasCreate(handle); }
auto destroy(Handle handle) { return cublasDestroy(handle); }
auto use_stream(Handle handle) { return cublasSetStream(handle, ExecSpace().cuda_stream()); }
template <class T, class... Args>
auto product(Args... args) {
  if constexpr (std::is_same_v<T, double>)
    return cublasDgemm(args...);
  else
    return cublasSgemm(args...);
}
#elif defined(CAMBIUM_ROCBLAS)
#define CAMBIUM_VENDOR "rocBLAS"
using Handle = rocblas_handle;
constexpr auto plain = rocblas_operation_none, transposed = rocblas_operation_transpose;
constexpr auto good = rocblas_status_success;
auto create(Handle* handle) { return rocblas_create_handle(handle); }
auto destroy(Handle handle) { return rocblas_destroy_handle(handle); }
auto use_stream(Handle handle) { return rocblas_set_stream(handle, ExecSpace().hip_stream()); }
template <class T, class... Args>
auto product(Args... args) {
  if constexpr (std::is_same_v<T, double>)
    return rocblas_dgemm(args...);
  else
    return rocblas_sgemm(args...);
}
#endif

#if defined(CAMBIUM_CUBLAS) || defined(CAMBIUM_ROCBLAS)
template <class Status>
void require(Status status, const char* what) {
  if (status != good)
    throw InternalError(fmt::format(CAMBIUM_VENDOR " refused {} (its status {})", what, static_cast<int>(status)));
}

/// Created at the first product and destroyed before Kokkos is finalised, with which the device context ends.
Handle handle() {
  static Handle one = [] {
    Handle made;
    require(create(&made), "to start");
    require(use_stream(made), "the stream of the kernels");
    Kokkos::push_finalize_hook([made] { destroy(made); });
    return made;
  }();
  return one;
}
#endif

}  // namespace

const char* vendor_products() {
#if defined(CAMBIUM_VENDOR)
  return CAMBIUM_VENDOR;
#else
  return "";
#endif
}

template <class T>
void vendor_gemm(bool transpose_a, bool transpose_b, int m, int n, int k, const T* a, int lda, const T* b, int ldb,
                 T beta, T* c, int ldc) {
#if defined(CAMBIUM_CUBLAS) || defined(CAMBIUM_ROCBLAS)
  // The libraries are column-major, so they compute the transposed product.
  const T one = 1;
  require(product<T>(handle(), transpose_b ? transposed : plain, transpose_a ? transposed : plain, n, m, k, &one, b,
                     ldb, a, lda, &beta, c, ldc),
          "a matrix product");
#else
  static_cast<void>(transpose_a), static_cast<void>(transpose_b), static_cast<void>(m + n + k + lda + ldb + ldc);
  static_cast<void>(a), static_cast<void>(b), static_cast<void>(beta), static_cast<void>(c);
  throw InternalError("this build has no matrix products of a vendor");
#endif
}

template void vendor_gemm(bool, bool, int, int, int, const double*, int, const double*, int, double, double*, int);
template void vendor_gemm(bool, bool, int, int, int, const float*, int, const float*, int, float, float*, int);

}  // namespace cambium
