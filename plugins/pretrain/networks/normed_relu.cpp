#include "plugins/pretrain/networks/normed_relu.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/pack.hpp"
#include "plugins/pretrain/networks/register_width.hpp"

namespace cambium::pretrain {
namespace {

/// For each register of channels: sums[c] = sum over cells of term(index of the cell's first of these channels, c),
/// with four partial sums to hide latency.
template <class T, int W, class Term>
void sum_over_cells(std::int64_t cells, std::int64_t channels, T* sums, const Term& term) {
  using P = Pack<T, W>;
  for (std::int64_t c = 0; c < channels; c += W) {
    P parts[4] = {P(T(0)), P(T(0)), P(T(0)), P(T(0))};
    std::int64_t i = 0;
    for (; i + 4 <= cells; i += 4)
#pragma GCC unroll 4
      for (int k = 0; k < 4; ++k) parts[k] = parts[k] + term((i + k) * channels + c, c);
    for (; i < cells; ++i) parts[0] = parts[0] + term(i * channels + c, c);
    ((parts[0] + parts[1]) + (parts[2] + parts[3])).store(sums + c);
  }
}

/// Mean over a group's values, from sums of its channels.
template <class T>
double mean_of(const std::vector<T>& sums, std::int64_t first, std::int64_t count, std::int64_t cells) {
  double sum = 0.0;
  for (std::int64_t c = first; c < first + count; ++c) sum += static_cast<double>(sums[c]);
  return sum / static_cast<double>(count * cells);
}

}  // namespace

template <class T>
NormedRelu<T>::NormedRelu(const Shape& shape, const T* scale, const T* shift)
    : shape_(shape), scale_(scale, scale + shape.channels), shift_(shift, shift + shape.channels) {
  for (auto* v : {&centre_, &rate_, &factor_, &offset_, &sums_, &products_}) v->resize(scale_.size());
}

template <class T>
void NormedRelu<T>::set_factors(const T* moments) {
  for (std::int64_t c = 0; c < shape_.channels; ++c) {
    const auto k = static_cast<std::size_t>(c);
    centre_[k] = moments[2 * group_of(c)];
    rate_[k] = moments[2 * group_of(c) + 1];
    factor_[k] = scale_[k] * rate_[k];
    offset_[k] = shift_[k] - centre_[k] * factor_[k];
  }
}

template <class T>
void NormedRelu<T>::forward(const T* y, const T* beside, T* moments, T* out) {
  const auto n = shape_.cells, all = shape_.channels, members = all / shape_.groups;
  with_register_width<T>(all, [&](auto w) {
    constexpr int W = decltype(w)::value;
    using P = Pack<T, W>;
    sum_over_cells<T, W>(n, all, sums_.data(), [&](std::int64_t at, std::int64_t) { return P::load(y + at); });
    for (std::int64_t g = 0; g < shape_.groups; ++g) {
      moments[2 * g] = static_cast<T>(mean_of(sums_, g * members, members, n));
      moments[2 * g + 1] = T(1);
    }
    set_factors(moments);
    sum_over_cells<T, W>(n, all, sums_.data(), [&](std::int64_t at, std::int64_t c) {
      const P off = P::load(y + at) - P::load(centre_.data() + c);
      return off * off;
    });
    for (std::int64_t g = 0; g < shape_.groups; ++g)
      moments[2 * g + 1] = static_cast<T>(1.0 / std::sqrt(mean_of(sums_, g * members, members, n) + shape_.epsilon));
    set_factors(moments);
    for (std::int64_t i = 0; i < n * all; i += all)
      for (std::int64_t c = 0; c < all; c += W) {
        P v = max(P(T(0)), fma(P::load(y + i + c), P::load(factor_.data() + c), P::load(offset_.data() + c)));
        if (beside) v = v + P::load(beside + i + c);
        v.store(out + i + c);
      }
  });
}

template <class T>
void NormedRelu<T>::backward(const T* y, const T* moments, const T* dout, T* dy, const Gradients& add) {
  const auto n = shape_.cells, all = shape_.channels, members = all / shape_.groups;
  set_factors(moments);
  with_register_width<T>(all, [&](auto w) {
    constexpr int W = decltype(w)::value;
    using P = Pack<T, W>;
    const auto passed = [&](std::int64_t at, std::int64_t c) {  // dout if the ReLU is active
      const P v = fma(P::load(y + at), P::load(factor_.data() + c), P::load(offset_.data() + c));
      return keep(v > P(T(0)), P::load(dout + at));
    };
    const auto normed = [&](std::int64_t at, std::int64_t c) {
      return (P::load(y + at) - P::load(centre_.data() + c)) * P::load(rate_.data() + c);
    };
    sum_over_cells<T, W>(n, all, sums_.data(), passed);
    sum_over_cells<T, W>(n, all, products_.data(),
                         [&](std::int64_t at, std::int64_t c) { return passed(at, c) * normed(at, c); });
    for (std::int64_t c = 0; c < all; ++c) {
      const auto k = static_cast<std::size_t>(c);
      add.shift[c] += sums_[k];
      add.scale[c] += products_[k];
      sums_[k] *= scale_[k];
      products_[k] *= scale_[k];
    }
    // Terms from the mean and the standard deviation of the group, for each channel.
    std::vector<T> by_mean(sums_.size()), by_deviation(sums_.size());
    for (std::int64_t c = 0; c < all; ++c) {
      const auto k = static_cast<std::size_t>(c);
      const auto first = group_of(c) * members;
      by_mean[k] = rate_[k] * static_cast<T>(mean_of(sums_, first, members, n));
      by_deviation[k] = rate_[k] * static_cast<T>(mean_of(products_, first, members, n));
    }
    sum_over_cells<T, W>(n, all, sums_.data(), [&](std::int64_t at, std::int64_t c) {
      const P less = fma(normed(at, c), P::load(by_deviation.data() + c), P::load(by_mean.data() + c));
      const P v = passed(at, c) * P::load(factor_.data() + c) - less;
      v.store(dy + at);
      return v;
    });
    for (std::int64_t c = 0; c < all; ++c) add.bias[c] += sums_[c];
  });
}

template class NormedRelu<float>;
template class NormedRelu<double>;

}  // namespace cambium::pretrain
