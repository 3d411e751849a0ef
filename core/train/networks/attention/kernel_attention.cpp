#include "core/train/networks/attention/kernel_attention.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "core/base/counts.hpp"
#include "core/base/recorder.hpp"
#include "core/numerics/gemm.hpp"

namespace cambium::train {

/// Block size of the causal form, in rows.
static constexpr int causal_rows = 64;

template <class T>
static constexpr T least_sum = std::is_same_v<T, double> ? T(1e-12) : T(1e-6);

template <class T>
KernelAttention<T>::KernelAttention(const HeadShape& shape, std::unique_ptr<FeatureMap<T>> map)
    : shape_(shape), map_(std::move(map)) {}

template <class T>
std::int64_t KernelAttention<T>::scratch() const {
  std::size_t sum = 0;
  for (const auto* x : {&phi_query_, &phi_key_, &reference_, &unused_, &values_, &state_, &block_, &by_block_, &scaled_,
                        &by_sums_, &by_query_, &by_key_, &by_values_})
    sum += x->size();
  return static_cast<std::int64_t>(sum);
}

/// Features of all rows, and [v, 1] for every key.
template <class T>
void KernelAttention<T>::map_rows(const HeadRows<const T>& in) {
  const int p = shape_.positions, n = shape_.width;
  phi_query_.resize(at(p) * features());
  phi_key_.resize(at(p) * features());
  reference_.resize(at(p));
  unused_.resize(at(p));
  values_.resize(at(p) * columns());
  map_->map(in.query, in.stride, p, Reference::row, phi_query_.data(), unused_.data());
  map_->map(in.key, in.stride, p, shape_.causal ? Reference::before : Reference::all, phi_key_.data(),
            reference_.data());
  const KernelRegion region("copy of values", WorkKind::movement);
  for (int row = 0; row < p; ++row) {
    T* v = values_.data() + at(row) * columns();
    std::copy_n(in.value + at(row) * at(in.stride), n, v);
    v[n] = T(1);
  }
}

template <class T>
void KernelAttention<T>::sums_of_all(T* sums) {
  const int p = shape_.positions, m = map_->features(), n = shape_.width + 1;
  state_.resize(features() * columns());
  host_gemm<T>(true, false, m, n, p, T(1), phi_key_.data(), m, values_.data(), n, T(0), state_.data(), n);
  host_gemm<T>(false, false, p, n, m, T(1), phi_query_.data(), m, state_.data(), n, T(0), sums, n);
}

template <class T>
const T* KernelAttention<T>::scaled(const T* x, int n, int first, int rows, T of, T sign) {
  scaled_.resize(at(std::min(causal_rows, shape_.positions)) * std::max(features(), columns()));
  const KernelRegion region("features, scaled", WorkKind::elementwise);
  for (int row = 0; row < rows; ++row) {
    const T factor = std::exp(sign * (reference_[at(first + row)] - of));
    const T* from = x + at(first + row) * at(n);
    T* to = scaled_.data() + at(row) * at(n);
    for (int k = 0; k < n; ++k) to[k] = from[k] * factor;
  }
  return scaled_.data();
}

template <class T>
void KernelAttention<T>::weights(const T* left, const T* right, int n, int first, int rows, T* out) const {
  host_gemm<T>(false, true, rows, rows, n, T(1), left, n, right, n, T(0), out, rows);
  const KernelRegion region("weights of a block", WorkKind::elementwise);
  const T* reference = reference_.data() + first;
  for (int i = 0; i < rows; ++i) {
    T* row = out + at(i) * at(rows);
    for (int j = 0; j < i; ++j)
      if (reference[j] != reference[i]) row[j] *= std::exp(reference[j] - reference[i]);
    std::fill(row + i + 1, row + rows, T(0));
  }
}

template <class T>
void KernelAttention<T>::add_keys(int first, int rows) {
  const int m = map_->features(), n = shape_.width + 1;
  const T last = reference_[at(first + rows - 1)];
  const T shrink = first > 0 ? std::exp(reference_[at(first - 1)] - last) : T(0);
  const T* keys = scaled(phi_key_.data(), m, first, rows, last, T(1));
  host_gemm<T>(true, false, m, n, rows, T(1), keys, m, values_.data() + at(first) * columns(), n, shrink, state_.data(),
               n);
}

template <class T>
void KernelAttention<T>::causal_sums(T* sums) {
  const int p = shape_.positions, m = map_->features(), n = shape_.width + 1;
  state_.assign(features() * columns(), T(0));
  block_.resize(at(causal_rows) * at(causal_rows));
  for (int first = 0; first < p; first += causal_rows) {
    const int rows = std::min(causal_rows, p - first);
    T* out = sums + at(first) * columns();
    weights(query(first), key(first), m, first, rows, block_.data());
    host_gemm<T>(false, false, rows, n, rows, T(1), block_.data(), rows, values_.data() + at(first) * columns(), n,
                 T(0), out, n);
    if (first > 0)
      host_gemm<T>(false, false, rows, n, m, T(1),
                   scaled(phi_query_.data(), m, first, rows, reference_[at(first - 1)], T(-1)), m, state_.data(), n,
                   T(1), out, n);
    add_keys(first, rows);
  }
}

template <class T>
void KernelAttention<T>::forward(const HeadRows<const T>& in, T* out, int out_stride, T* kept) {
  const int p = shape_.positions, n = shape_.width;
  map_rows(in);
  if (shape_.causal)
    causal_sums(kept);
  else
    sums_of_all(kept);
  const KernelRegion region("means of values", WorkKind::elementwise);
  for (int row = 0; row < p; ++row) {
    T *sums = kept + at(row) * columns(), *y = out + at(row) * at(out_stride);
    const T total = std::max(sums[n], least_sum<T>);
    for (int k = 0; k < n; ++k) y[k] = sums[k] = sums[k] / total;
  }
}

/// Derivatives by the sums of [v, 1] of each row: by_out / total, and -by_out . out / total for the total itself, or
/// zero if the total is clamped.
template <class T>
void KernelAttention<T>::derivatives_of_sums(const T* kept, const T* by_out, int out_stride) {
  const int p = shape_.positions, n = shape_.width;
  const KernelRegion region("slope of means of values", WorkKind::reduction);
  by_sums_.resize(at(p) * columns());
  for (int row = 0; row < p; ++row) {
    const T *y = kept + at(row) * columns(), *d = by_out + at(row) * at(out_stride);
    T* by = by_sums_.data() + at(row) * columns();
    const T total = std::max(y[n], least_sum<T>);
    T dot = T(0);
    for (int k = 0; k < n; ++k) {
      dot += d[k] * y[k];
      by[k] = d[k] / total;
    }
    by[n] = y[n] > least_sum<T> ? -dot / total : T(0);
  }
}

template <class T>
void KernelAttention<T>::derivatives_of_all() {
  const int p = shape_.positions, m = map_->features(), n = shape_.width + 1;
  state_.resize(features() * columns());
  host_gemm<T>(true, false, m, n, p, T(1), phi_key_.data(), m, values_.data(), n, T(0), state_.data(), n);
  host_gemm<T>(false, true, p, m, n, T(1), by_sums_.data(), n, state_.data(), n, T(0), by_query_.data(), m);
  host_gemm<T>(true, false, m, n, p, T(1), phi_query_.data(), m, by_sums_.data(), n, T(0), state_.data(), n);
  host_gemm<T>(false, true, p, m, n, T(1), values_.data(), n, state_.data(), n, T(0), by_key_.data(), m);
  host_gemm<T>(false, false, p, n, m, T(1), phi_key_.data(), m, state_.data(), n, T(0), by_values_.data(), n);
}

/// Forward pass over the blocks, with the state of the keys before each.
template <class T>
void KernelAttention<T>::causal_by_query() {
  const int p = shape_.positions, m = map_->features(), n = shape_.width + 1;
  state_.assign(features() * columns(), T(0));
  for (int first = 0; first < p; first += causal_rows) {
    const int rows = std::min(causal_rows, p - first);
    const std::size_t begin = at(first) * columns();
    T* out = by_query_.data() + at(first) * features();
    weights(by_sums_.data() + begin, values_.data() + begin, n, first, rows, by_block_.data());
    host_gemm<T>(false, false, rows, m, rows, T(1), by_block_.data(), rows, key(first), m, T(0), out, m);
    if (first > 0)
      host_gemm<T>(false, true, rows, m, n, T(1),
                   scaled(by_sums_.data(), n, first, rows, reference_[at(first - 1)], T(-1)), n, state_.data(), n, T(1),
                   out, m);
    add_keys(first, rows);
  }
}

/// Backward pass over the blocks; the state is sum_i e^(last - reference_i) phi(q_i) by_sums_i of the queries after the
/// block, `last` being the reference of its last key.
template <class T>
void KernelAttention<T>::causal_by_key() {
  const int p = shape_.positions, m = map_->features(), n = shape_.width + 1;
  state_.assign(features() * columns(), T(0));
  for (int first = (p - 1) / causal_rows * causal_rows; first >= 0; first -= causal_rows) {
    const int rows = std::min(causal_rows, p - first);
    const T last = reference_[at(first + rows - 1)];
    const std::size_t begin = at(first) * columns();
    T *by_key = by_key_.data() + at(first) * features(), *by_value = by_values_.data() + begin;
    weights(query(first), key(first), m, first, rows, block_.data());
    weights(by_sums_.data() + begin, values_.data() + begin, n, first, rows, by_block_.data());
    host_gemm<T>(true, false, rows, m, rows, T(1), by_block_.data(), rows, query(first), m, T(0), by_key, m);
    host_gemm<T>(true, false, rows, n, rows, T(1), block_.data(), rows, by_sums_.data() + begin, n, T(0), by_value, n);
    host_gemm<T>(false, true, rows, m, n, T(1), scaled(values_.data(), n, first, rows, last, T(1)), n, state_.data(), n,
                 T(1), by_key, m);
    host_gemm<T>(false, false, rows, n, m, T(1), scaled(phi_key_.data(), m, first, rows, last, T(1)), m, state_.data(),
                 n, T(1), by_value, n);
    if (first == 0) break;
    const T before = reference_[at(first - 1)];
    host_gemm<T>(true, false, m, n, rows, T(1), scaled(phi_query_.data(), m, first, rows, before, T(-1)), m,
                 by_sums_.data() + begin, n, std::exp(before - last), state_.data(), n);
  }
}

template <class T>
void KernelAttention<T>::backward(const HeadRows<const T>& in, const T* kept, const T* by_out, int out_stride,
                                  const HeadRows<T>& by_in) {
  const int p = shape_.positions, n = shape_.width;
  map_rows(in);
  derivatives_of_sums(kept, by_out, out_stride);
  by_query_.resize(phi_query_.size());
  by_key_.resize(phi_key_.size());
  by_values_.resize(values_.size());
  if (shape_.causal) {
    block_.resize(at(causal_rows) * at(causal_rows));
    by_block_.resize(at(causal_rows) * at(causal_rows));
    causal_by_query();
    causal_by_key();
  } else {
    derivatives_of_all();
  }
  map_->map_backward(in.query, in.stride, p, phi_query_.data(), by_query_.data(), by_in.query, by_in.stride);
  map_->map_backward(in.key, in.stride, p, phi_key_.data(), by_key_.data(), by_in.key, by_in.stride);
  const KernelRegion region("sum of slopes of values", WorkKind::elementwise);
  for (int row = 0; row < p; ++row) {
    const T* v = by_values_.data() + at(row) * columns();
    T* out = by_in.value + at(row) * at(by_in.stride);
    for (int k = 0; k < n; ++k) out[k] += v[k];
  }
}

template class KernelAttention<double>;
template class KernelAttention<float>;

}  // namespace cambium::train
