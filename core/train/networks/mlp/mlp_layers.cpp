#include "core/train/networks/mlp/mlp_layers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

#include "core/base/pack_math.hpp"
#include "core/base/recorder.hpp"
#include "core/lowp/bfloat16.hpp"
#include "core/numerics/gemm.hpp"
#include "core/numerics/padded_packs.hpp"
#include "core/parallel/host_threads.hpp"
#include "core/parallel/random.hpp"
#include "core/train/networks/mlp/coded_weights.hpp"
#include "core/train/networks/mlp/mlp_activation.hpp"

namespace cambium::train {

namespace {

/// Numbers that a thread is worth starting for: some microseconds of conversions or of activations.
constexpr std::int64_t enough_numbers = 4096, enough_activations = 512;

template <class T>
void round_to_bfloat16(std::span<T> values) {
  in_shares(std::ssize(values), enough_numbers, [&](std::int64_t first, std::int64_t last) {
    for (T& value : values.subspan(first, static_cast<std::size_t>(last - first)))
      value = static_cast<T>(lowp::from_bfloat16(lowp::to_bfloat16(static_cast<float>(value))));
  });
}

/// f(kind as a type), so that a loop over numbers is made for each activation and asks for none.
template <class F>
void with_kind(Mlp::Activation kind, const F& f) {
  using A = Mlp::Activation;
  switch (kind) {
    case A::tanh:
      return f(std::integral_constant<A, A::tanh>());
    case A::relu:
      return f(std::integral_constant<A, A::relu>());
    case A::sigmoid:
      return f(std::integral_constant<A, A::sigmoid>());
    case A::gelu:
      return f(std::integral_constant<A, A::gelu>());
    case A::silu:
      return f(std::integral_constant<A, A::silu>());
  }
}

/// The library's tanh, number by number, would take as long as much of the products.
template <class T>
void activate_all(Mlp::Activation activation, const T* sum, std::int64_t n, T* value) {
  if (activation == Mlp::Activation::tanh)
    return by_packs<T>(
        n, [&](std::int64_t k, int count) { store_some(tanh(load_some(sum + k, count)), value + k, count); });
  with_kind(activation, [&](auto kind) {
    for (std::int64_t k = 0; k < n; ++k) value[k] = detail::activate(kind(), sum[k]);
  });
}

}  // namespace

std::vector<ParameterInfo> mlp_parameters(std::span<const std::int64_t> widths, bool may_round) {
  std::vector<ParameterInfo> out;
  for (std::size_t l = 0; l + 1 < widths.size(); ++l) {
    out.push_back({fmt::format("layers.{}.w", l), {widths[l], widths[l + 1]}, true, may_round});
    out.push_back({fmt::format("layers.{}.b", l), {widths[l + 1]}, false});
  }
  return out;
}

template <class T>
void initialise_mlp(std::span<const TensorRef> weights, std::span<const std::int64_t> widths, std::uint64_t seed,
                    bool rectifies) {
  for (std::size_t l = 0; l + 1 < widths.size(); ++l) {
    const double deviation = std::sqrt(2.0 / static_cast<double>(rectifies ? widths[l] : widths[l] + widths[l + 1]));
    auto* values = static_cast<T*>(weights[2 * l].data);
    for (std::int64_t k = 0; k < weights[2 * l].elements(); ++k)
      values[k] = static_cast<T>(deviation *
                                 Random4(seed, Stream::model_weights, static_cast<std::uint64_t>(k), 2 * l).normal(0));
    std::fill_n(static_cast<T*>(weights[2 * l + 1].data), weights[2 * l + 1].elements(), T(0));
  }
}

template void initialise_mlp<double>(std::span<const TensorRef>, std::span<const std::int64_t>, std::uint64_t, bool);
template void initialise_mlp<float>(std::span<const TensorRef>, std::span<const std::int64_t>, std::uint64_t, bool);

template <class T>
MlpLayers<T>::MlpLayers(std::span<const std::int64_t> widths, Mlp::Activation activation, bool bfloat16,
                        std::span<const TensorRef> weights, const CodedWeights* coded, std::vector<bool> plain)
    : widths_(widths), plain_(std::move(plain)), activation_(activation), bfloat16_(bfloat16), coded_(coded),
      weights_(weights), inputs_(widths.size()), sums_(widths.size() - 1) {}

template <class T>
const T* MlpLayers<T>::weights_of(std::size_t l) {
  const auto* w = static_cast<const T*>(weights_[2 * l].data);
  if (!bfloat16_) return w;
  rounded_.assign(w, w + weights_[2 * l].elements());
  round_to_bfloat16(std::span(rounded_));
  return rounded_.data();
}

template <class T>
void MlpLayers<T>::begin_sums(std::size_t l) {
  const auto* bias = static_cast<const T*>(weights_[2 * l + 1].data);
  T* const sum = sums_[l].reserve(static_cast<std::size_t>(rows_) * out(l));
  in_shares(rows_, 1 + enough_numbers / out(l), [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t row = first; row < last; ++row) std::copy_n(bias, out(l), sum + row * out(l));
  });
}

template <class T>
void MlpLayers<T>::apply_activation(std::size_t l) {
  const std::int64_t n = std::int64_t{rows_} * out(l);
  const T* const sum = sums_[l].data();
  T* const value = inputs_[l + 1].reserve(n);
  const KernelRegion region("activation", WorkKind::transcendental);
  in_shares(n, enough_activations, [&](std::int64_t first, std::int64_t last) {
    if (is_plain(l))
      std::copy(sum + first, sum + last, value + first);
    else
      activate_all(activation_, sum + first, last - first, value + first);
  });
}

template <class T>
const std::vector<T>& MlpLayers<T>::forward(std::vector<T> inputs, int rows, const ReadyCallback& ready) {
  rows_ = rows;
  given_ = std::move(inputs);
  if (bfloat16_) round_to_bfloat16(std::span(given_));
  for (std::size_t l = 0; l < layers(); ++l) {
    ready.forward(static_cast<int>(l));
    begin_sums(l);
    if (bfloat16_ && l > 0) round_to_bfloat16(std::span(inputs_[l].data(), static_cast<std::size_t>(rows) * in(l)));
    if (!coded_ || !coded_->add_product(static_cast<int>(2 * l), input(l), rows, sums_[l].data()))
      host_gemm<T>(false, false, rows, out(l), in(l), T(1), input(l), in(l), weights_of(l), out(l), T(1),
                   sums_[l].data(), out(l));
    ready.release(static_cast<int>(l));
    if (l + 1 < layers()) apply_activation(l);
  }
  const T* const last = sums_.back().data();
  outputs_.assign(last, last + static_cast<std::size_t>(rows) * out(layers() - 1));
  return outputs_;
}

template <class T>
void MlpLayers<T>::add_bias_gradient(std::size_t l, const T* by_sum, T* by_bias) const {
  in_shares(out(l), 1 + enough_numbers / std::max(rows_, 1), [&](std::int64_t first, std::int64_t last) {
    for (int row = 0; row < rows_; ++row)
      for (std::int64_t k = first; k < last; ++k) by_bias[k] += by_sum[std::int64_t{row} * out(l) + k];
  });
}

template <class T>
void MlpLayers<T>::times_slope(std::size_t l, T* by_input) const {
  const KernelRegion region("slope of the activation", WorkKind::elementwise);
  const T *const sum = sums_[l].data(), *const value = inputs_[l + 1].data();
  in_shares(std::int64_t{rows_} * out(l), enough_activations, [&](std::int64_t first, std::int64_t last) {
    with_kind(activation_, [&](auto kind) {
      for (std::int64_t k = first; k < last; ++k) by_input[k] *= detail::slope(kind(), sum[k], value[k]);
    });
  });
}

template <class T>
void MlpLayers<T>::backward(std::vector<T> by_output, std::span<const TensorRef> gradients,
                            const ReadyCallback& ready) {
  AlignedBuffer<T> held[2];
  T* by_sum = by_output.data();
  for (std::size_t l = layers(); l-- > 0;) {
    ready.backward(static_cast<int>(l));
    add_bias_gradient(l, by_sum, static_cast<T*>(gradients[2 * l + 1].data));
    if (bfloat16_) round_to_bfloat16(std::span(by_sum, static_cast<std::size_t>(rows_) * out(l)));
    host_gemm<T>(true, false, in(l), out(l), rows_, T(1), input(l), in(l), by_sum, out(l), T(1),
                 static_cast<T*>(gradients[2 * l].data), out(l));
    ready(static_cast<int>(2 * l + 1));
    ready(static_cast<int>(2 * l));
    if (l == 0) {
      ready.release(0);
      return;
    }
    T* const by_input = held[l % 2].reserve(static_cast<std::size_t>(rows_) * in(l));
    host_gemm<T>(false, true, rows_, in(l), out(l), T(1), by_sum, out(l), weights_of(l), out(l), T(0), by_input, in(l));
    ready.release(static_cast<int>(l));
    if (!is_plain(l - 1)) times_slope(l - 1, by_input);
    by_sum = by_input;
  }
}

template class MlpLayers<double>;
template class MlpLayers<float>;

}  // namespace cambium::train
