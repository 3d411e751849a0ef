#include "core/train/networks/attention/two_pass_attention.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/counts.hpp"
#include "core/base/recorder.hpp"
#include "core/numerics/gemm.hpp"
#include "core/train/networks/attention/exponentials.hpp"

namespace cambium::train {

/// Block size in rows: two blocks of scores and the rows of a head of width 64 fit into a second-level cache.
static constexpr int block = 128;

template <class T>
TwoPassAttention<T>::TwoPassAttention(const HeadShape& shape)
    : shape_(shape), scale_(static_cast<T>(1.0 / std::sqrt(static_cast<double>(shape.width)))) {
  const auto rows = std::min(block, shape.positions);
  scores_.resize(at(static_cast<std::int64_t>(rows) * rows));
  rows_.resize(at(std::max<std::int64_t>(static_cast<std::int64_t>(rows) * (shape.width + 2), shape.positions)));
}

template <class T>
int TwoPassAttention<T>::seen(const Pair& b, int row) const {
  return shape_.causal ? std::clamp(b.query + row + 1 - b.key, 0, b.keys) : b.keys;
}

template <class T>
void TwoPassAttention<T>::scores(const HeadRows<const T>& in, const Pair& b) {
  host_gemm<T>(false, true, b.queries, b.keys, shape_.width, scale_, in.query + at(b.query) * at(in.stride), in.stride,
               in.key + at(b.key) * at(in.stride), in.stride, T(0), scores_.data(), b.keys);
}

/// With m the largest score of a row so far, `sums` holds sum_j e^(s_j - m) v_j and `total` the sum of the weights.
template <class T>
void TwoPassAttention<T>::add_block(const HeadRows<const T>& in, const Pair& b, T* sums, T* most, T* total) {
  const int n = shape_.width;
  scores(in, b);
  weigh(b, sums, most, total);
  host_gemm<T>(false, false, b.queries, n, b.keys, T(1), scores_.data(), b.keys, in.value + at(b.key) * at(in.stride),
               in.stride, T(1), sums, n);
}

/// Replaces the block's scores by weights, and rescales the previous sums accordingly.
template <class T>
void TwoPassAttention<T>::weigh(const Pair& b, T* sums, T* most, T* total) {
  const KernelRegion region("softmax of a block", WorkKind::transcendental);
  const int n = shape_.width;
  for (int row = 0; row < b.queries; ++row) {
    T* s = scores_.data() + at(row) * at(b.keys);
    const int count = seen(b, row);
    const T largest = std::max(most[row], *std::max_element(s, s + count));
    const T shrink = std::exp(most[row] - largest);
    exponentials(s, count, largest);
    std::fill(s + count, s + b.keys, T(0));
    T sum = T(0);
    for (int k = 0; k < count; ++k) sum += s[k];
    total[row] = total[row] * shrink + sum;
    most[row] = largest;
    if (shrink < T(1))
      for (int k = 0; k < n; ++k) sums[row * n + k] *= shrink;
  }
}

template <class T>
void TwoPassAttention<T>::forward(const HeadRows<const T>& in, T* out, int out_stride, T* kept) {
  const int p = shape_.positions, n = shape_.width;
  for (int query = 0; query < p; query += block) {
    const int queries = std::min(block, p - query), last = shape_.causal ? query + queries : p;
    T *sums = rows_.data(), *most = sums + at(queries) * at(n), *total = most + queries;
    std::fill(sums, most, T(0));
    std::fill(most, total, -std::numeric_limits<T>::infinity());
    std::fill(total, total + queries, T(0));
    for (int key = 0; key < last; key += block)
      add_block(in, {query, queries, key, std::min(block, last - key)}, sums, most, total);
    const KernelRegion region("softmax, end", WorkKind::elementwise);
    for (int row = 0; row < queries; ++row) {
      T *y = out + at(query + row) * at(out_stride), *copy = kept + at(query + row) * at(n + 1);
      for (int k = 0; k < n; ++k) y[k] = copy[k] = sums[row * n + k] / total[row];
      copy[n] = most[row] + std::log(total[row]);
    }
  }
}

/// With weights a_ij and derivatives by them d_ij = by_out_i . v_j, those by scores are a_ij (d_ij - by_out_i . out_i);
/// rows_ holds the last product.
template <class T>
void TwoPassAttention<T>::add_derivatives(const HeadRows<const T>& in, const Pair& b, const T* kept, const T* by_out,
                                          int out_stride, const HeadRows<T>& by_in) {
  const int n = shape_.width;
  const auto query = at(b.query), key = at(b.key), stride = at(in.stride), by_stride = at(by_in.stride);
  const T* by_o = by_out + query * at(out_stride);
  scores(in, b);
  host_gemm<T>(false, true, b.queries, b.keys, n, T(1), by_o, out_stride, in.value + key * stride, in.stride, T(0),
               by_scores_.data(), b.keys);
  slopes(b, kept);
  host_gemm<T>(true, false, b.keys, n, b.queries, T(1), scores_.data(), b.keys, by_o, out_stride, T(1),
               by_in.value + key * by_stride, by_in.stride);
  host_gemm<T>(false, false, b.queries, n, b.keys, scale_, by_scores_.data(), b.keys, in.key + key * stride, in.stride,
               T(1), by_in.query + query * by_stride, by_in.stride);
  host_gemm<T>(true, false, b.keys, n, b.queries, scale_, by_scores_.data(), b.keys, in.query + query * stride,
               in.stride, T(1), by_in.key + key * by_stride, by_in.stride);
}

/// Replaces the block's scores by weights, and derivatives by weights by those by scores.
template <class T>
void TwoPassAttention<T>::slopes(const Pair& b, const T* kept) {
  const KernelRegion region("slope of the softmax of a block", WorkKind::transcendental);
  const int n = shape_.width;
  const auto query = at(b.query);
  for (int row = 0; row < b.queries; ++row) {
    T *a = scores_.data() + at(row) * at(b.keys), *d = by_scores_.data() + at(row) * at(b.keys);
    const int count = seen(b, row);
    exponentials(a, count, kept[(query + at(row)) * at(n + 1) + at(n)]);
    std::fill(a + count, a + b.keys, T(0));
    const T mean = rows_[query + at(row)];
    for (int k = 0; k < count; ++k) d[k] = a[k] * (d[k] - mean);
    std::fill(d + count, d + b.keys, T(0));
  }
}

template <class T>
void TwoPassAttention<T>::backward(const HeadRows<const T>& in, const T* kept, const T* by_out, int out_stride,
                                   const HeadRows<T>& by_in) {
  const int p = shape_.positions, n = shape_.width;
  by_scores_.resize(scores_.size());
  for (int row = 0; row < p; ++row) {
    const T *d = by_out + at(row) * at(out_stride), *y = kept + at(row) * at(n + 1);
    T sum = T(0);
    for (int k = 0; k < n; ++k) sum += d[k] * y[k];
    rows_[at(row)] = sum;
  }
  for (int query = 0; query < p; query += block) {
    const int queries = std::min(block, p - query), last = shape_.causal ? query + queries : p;
    for (int key = 0; key < last; key += block)
      add_derivatives(in, {query, queries, key, std::min(block, last - key)}, kept, by_out, out_stride, by_in);
  }
}

template class TwoPassAttention<double>;
template class TwoPassAttention<float>;

}  // namespace cambium::train
