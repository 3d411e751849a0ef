#include "plugins/superres/networks/axial/axial_attention.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/recorder.hpp"
#include "core/numerics/gemm.hpp"

namespace cambium::superres {
namespace {

/// Adds the bias and turns rows of n scores into softmax weights.
template <class T>
void biased_softmax(const AxialShape& shape, int axis, const T* bias, T* scores) {
  const KernelRegion region("softmax", WorkKind::transcendental);
  const int n = shape.tokens(axis);
  for (int query = 0; query < n; ++query, scores += n) {
    for (int key = 0; key < n; ++key) scores[key] += bias[shape.distance(axis, query, key)];
    const T most = *std::max_element(scores, scores + n);
    T sum = T(0);
    for (int key = 0; key < n; ++key) sum += scores[key] = std::exp(scores[key] - most);
    for (int key = 0; key < n; ++key) scores[key] /= sum;
  }
}

/// Turns the gradient with respect to the weights into that with respect to the scores, and adds that of the bias.
template <class T>
void softmax_slope(const AxialShape& shape, int axis, const T* weights, T* by_weights, T* by_bias) {
  const KernelRegion region("slope of the softmax", WorkKind::reduction);
  const int n = shape.tokens(axis);
  for (int query = 0; query < n; ++query, weights += n, by_weights += n) {
    T dot = T(0);
    for (int key = 0; key < n; ++key) dot += by_weights[key] * weights[key];
    for (int key = 0; key < n; ++key) {
      by_weights[key] = weights[key] * (by_weights[key] - dot);
      by_bias[shape.distance(axis, query, key)] += by_weights[key];
    }
  }
}

}  // namespace

template <class T>
std::vector<std::size_t> AxialAttention<T>::lines() const {
  const auto x = static_cast<std::size_t>(shape_.tokens(0)), z = static_cast<std::size_t>(shape_.tokens(1));
  std::vector<std::size_t> out;
  for (std::size_t s = 0; s < static_cast<std::size_t>(samples_); ++s)
    for (std::size_t k = 0; k < (axis_ == 0 ? z : x); ++k) out.push_back(s * x * z + (axis_ == 0 ? k : k * z));
  return out;
}

template <class T>
void AxialAttention<T>::forward(const std::vector<T>& qkv, const T* bias, std::vector<T>& out) {
  const int n = shape_.tokens(axis_), width = shape_.width, each = width / shape_.heads;
  const int row = static_cast<int>(step()) * width, row3 = 3 * row;
  const T scale = static_cast<T>(1.0 / std::sqrt(static_cast<double>(each)));
  const auto first = lines();
  weights_.assign(first.size() * shape_.heads * n * n, T(0));
  T* weights = weights_.data();
  for (const std::size_t patch : first)
    for (int h = 0; h < shape_.heads; ++h, weights += n * n) {
      const T* const query = qkv.data() + patch * 3 * width + h * each;
      host_gemm<T>(false, true, n, n, each, scale, query, row3, query + width, row3, T(0), weights, n);
      biased_softmax(shape_, axis_, bias + h * shape_.distances(axis_), weights);
      host_gemm<T>(false, false, n, each, n, T(1), weights, n, query + 2 * width, row3, T(1),
                   out.data() + patch * width + h * each, row);
    }
}

template <class T>
void AxialAttention<T>::backward(const std::vector<T>& qkv, const std::vector<T>& by_out, std::vector<T>& by_qkv,
                                 T* by_bias) const {
  const int n = shape_.tokens(axis_), width = shape_.width, each = width / shape_.heads;
  const int row = static_cast<int>(step()) * width, row3 = 3 * row;
  const T scale = static_cast<T>(1.0 / std::sqrt(static_cast<double>(each)));
  std::vector<T> by_scores(static_cast<std::size_t>(n) * n);
  const T* weights = weights_.data();
  for (const std::size_t patch : lines())
    for (int h = 0; h < shape_.heads; ++h, weights += n * n) {
      const std::size_t at = patch * 3 * width + h * each;
      const T *const query = qkv.data() + at, *const by = by_out.data() + patch * width + h * each;
      T* const by_query = by_qkv.data() + at;
      host_gemm<T>(true, false, n, each, n, T(1), weights, n, by, row, T(1), by_query + 2 * width, row3);
      host_gemm<T>(false, true, n, n, each, T(1), by, row, query + 2 * width, row3, T(0), by_scores.data(), n);
      softmax_slope(shape_, axis_, weights, by_scores.data(), by_bias + h * shape_.distances(axis_));
      host_gemm<T>(false, false, n, each, n, scale, by_scores.data(), n, query + width, row3, T(1), by_query, row3);
      host_gemm<T>(true, false, n, each, n, scale, by_scores.data(), n, query, row3, T(1), by_query + width, row3);
    }
}

template class AxialAttention<double>;
template class AxialAttention<float>;

}  // namespace cambium::superres
