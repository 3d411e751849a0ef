#pragma once
// Products of rows with the matrix of a layer, or with its two factors. Rows are `n`, of strides in elements.
#include <vector>

#include "core/numerics/gemm.hpp"
#include "plugins/deepmd/training/layer_weights.hpp"

namespace cambium::deepmd {

namespace detail {
/// x enter, n x rank.
template <class T>
std::vector<T> entered(const LayerWeights<T>& layer, int n, const T* x, int stride_x) {
  std::vector<T> out(static_cast<std::size_t>(n) * static_cast<std::size_t>(layer.rank));
  host_gemm<T>(false, false, n, layer.rank, layer.in, T(1), x, stride_x, layer.w, layer.rank, T(0), out.data(),
               layer.rank);
  return out;
}
/// y leave^T, n x rank.
template <class T>
std::vector<T> left_by(const LayerWeights<T>& layer, int n, const T* y, int stride_y) {
  std::vector<T> out(static_cast<std::size_t>(n) * static_cast<std::size_t>(layer.rank));
  host_gemm<T>(false, true, n, layer.rank, layer.out, T(1), y, stride_y, layer.leave, layer.out, T(0), out.data(),
               layer.rank);
  return out;
}
}  // namespace detail

/// y = x W.
template <class T>
void multiply(const LayerWeights<T>& layer, int n, const T* x, int stride_x, T* y, int stride_y) {
  if (layer.rank == 0)
    return host_gemm<T>(false, false, n, layer.out, layer.in, T(1), x, stride_x, layer.w, layer.out, T(0), y, stride_y);
  const auto between = detail::entered(layer, n, x, stride_x);
  host_gemm<T>(false, false, n, layer.out, layer.rank, T(1), between.data(), layer.rank, layer.leave, layer.out, T(0),
               y, stride_y);
}

/// x += y W^T.
template <class T>
void add_transposed(const LayerWeights<T>& layer, int n, const T* y, int stride_y, T* x, int stride_x) {
  if (layer.rank == 0)
    return host_gemm<T>(false, true, n, layer.in, layer.out, T(1), y, stride_y, layer.w, layer.out, T(1), x, stride_x);
  const auto between = detail::left_by(layer, n, y, stride_y);
  host_gemm<T>(false, true, n, layer.in, layer.rank, T(1), between.data(), layer.rank, layer.w, layer.rank, T(1), x,
               stride_x);
}

/// Adds x^T y, the gradient by W of sum(x W * y), to the gradient: to that of W, or of its factors, which are
/// x^T (y leave^T) and (x enter)^T y.
template <class T>
void add_weight_gradient(const LayerWeights<T>& layer, int n, const T* x, int stride_x, const T* y, int stride_y) {
  if (layer.rank == 0)
    return host_gemm<T>(true, false, layer.in, layer.out, n, T(1), x, stride_x, y, stride_y, T(1), layer.dw, layer.out);
  const auto by_between = detail::left_by(layer, n, y, stride_y), between = detail::entered(layer, n, x, stride_x);
  host_gemm<T>(true, false, layer.in, layer.rank, n, T(1), x, stride_x, by_between.data(), layer.rank, T(1), layer.dw,
               layer.rank);
  host_gemm<T>(true, false, layer.rank, layer.out, n, T(1), between.data(), layer.rank, y, stride_y, T(1), layer.dleave,
               layer.out);
}

}  // namespace cambium::deepmd
