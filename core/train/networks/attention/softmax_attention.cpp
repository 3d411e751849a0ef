#include "core/train/networks/attention/softmax_attention.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/recorder.hpp"
#include "core/numerics/gemm.hpp"

namespace cambium::train {

/// In-place softmax over the entries of each row that its query attends to; the others become zero.
template <class T>
static void softmax_rows(T* scores, int n, bool causal) {
  const KernelRegion region("softmax", WorkKind::transcendental);
  for (int row = 0; row < n; ++row, scores += n) {
    const int seen = causal ? row + 1 : n;
    const T most = *std::max_element(scores, scores + seen);
    T sum = T(0);
    for (int k = 0; k < seen; ++k) sum += scores[k] = std::exp(scores[k] - most);
    for (int k = 0; k < seen; ++k) scores[k] /= sum;
    std::fill(scores + seen, scores + n, T(0));
  }
}

/// Derivatives by the weights w to derivatives by the scores, in place.
template <class T>
static void softmax_backward(const T* w, int n, bool causal, T* d) {
  const KernelRegion region("slope of the softmax", WorkKind::reduction);
  for (int row = 0; row < n; ++row, d += n, w += n) {
    const int seen = causal ? row + 1 : n;
    T dot = T(0);
    for (int k = 0; k < seen; ++k) dot += d[k] * w[k];
    for (int k = 0; k < seen; ++k) d[k] = w[k] * (d[k] - dot);
    std::fill(d + seen, d + n, T(0));
  }
}

template <class T>
void SoftmaxAttention<T>::forward(const HeadRows<const T>& in, T* out, int out_stride, T* kept) {
  const int p = shape_.positions, n = shape_.width;
  const T scale = static_cast<T>(1.0 / std::sqrt(static_cast<double>(n)));
  host_gemm<T>(false, true, p, p, n, scale, in.query, in.stride, in.key, in.stride, T(0), kept, p);
  softmax_rows(kept, p, shape_.causal);
  host_gemm<T>(false, false, p, n, p, T(1), kept, p, in.value, in.stride, T(0), out, out_stride);
}

template <class T>
void SoftmaxAttention<T>::backward(const HeadRows<const T>& in, const T* kept, const T* by_out, int out_stride,
                                   const HeadRows<T>& by_in) {
  const int p = shape_.positions, n = shape_.width;
  const T scale = static_cast<T>(1.0 / std::sqrt(static_cast<double>(n)));
  by_weights_.resize(this->kept());
  T* by_a = by_weights_.data();
  host_gemm<T>(true, false, p, n, p, T(1), kept, p, by_out, out_stride, T(0), by_in.value, by_in.stride);
  host_gemm<T>(false, true, p, p, n, T(1), by_out, out_stride, in.value, in.stride, T(0), by_a, p);
  softmax_backward(kept, p, shape_.causal, by_a);
  host_gemm<T>(false, false, p, n, p, scale, by_a, p, in.key, in.stride, T(0), by_in.query, by_in.stride);
  host_gemm<T>(true, false, p, n, p, scale, by_a, p, in.query, in.stride, T(0), by_in.key, by_in.stride);
}

template class SoftmaxAttention<double>;
template class SoftmaxAttention<float>;

}  // namespace cambium::train
