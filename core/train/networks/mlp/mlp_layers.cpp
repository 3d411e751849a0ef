#include "core/train/networks/mlp/mlp_layers.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/lowp/bfloat16.hpp"
#include "core/numerics/dense_layer.hpp"
#include "core/parallel/host_threads.hpp"
#include "core/parallel/random.hpp"
#include "core/train/networks/mlp/coded_weights.hpp"

namespace cambium::train {

namespace {

/// Minimum number of values per thread: some microseconds of conversions.
constexpr std::int64_t enough_numbers = 4096;

template <class T>
void round_to_bfloat16(std::span<T> values) {
  in_shares(std::ssize(values), enough_numbers, [&](std::int64_t first, std::int64_t last) {
    for (T& value : values.subspan(first, static_cast<std::size_t>(last - first)))
      value = static_cast<T>(lowp::from_bfloat16(lowp::to_bfloat16(static_cast<float>(value))));
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
    if (weights[2 * l + 1].data)
      std::fill_n(static_cast<T*>(weights[2 * l + 1].data), weights[2 * l + 1].elements(), T(0));
    if (!weights[2 * l].data) continue;
    const double deviation = std::sqrt(2.0 / static_cast<double>(rectifies ? widths[l] : widths[l] + widths[l + 1]));
    auto* values = static_cast<T*>(weights[2 * l].data);
    for (std::int64_t k = 0; k < weights[2 * l].elements(); ++k)
      values[k] = static_cast<T>(deviation *
                                 Random4(seed, Stream::model_weights, static_cast<std::uint64_t>(k), 2 * l).normal(0));
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
void MlpLayers<T>::add_up(std::size_t l) {
  const auto* bias = static_cast<const T*>(weights_[2 * l + 1].data);
  T* const sum = sums_[l].reserve(static_cast<std::size_t>(rows_) * out(l));
  if (coded_) {
    DenseLayer<T>{in(l), out(l), nullptr, bias}.begin(rows_, sum);
    if (!coded_->add_product(static_cast<int>(2 * l), input(l), rows_, sum))
      DenseLayer<T>{in(l), out(l), weights_of(l)}.add_product(rows_, input(l), sum);
  } else {
    DenseLayer<T>{in(l), out(l), weights_of(l), bias}.forward(rows_, input(l), sum);
  }
}

template <class T>
void MlpLayers<T>::apply_activation(std::size_t l) {
  const std::int64_t n = std::int64_t{rows_} * out(l);
  const T* const sum = sums_[l].data();
  T* const value = inputs_[l + 1].reserve(n);
  if (is_plain(l))
    std::copy_n(sum, n, value);
  else
    activate(activation_, n, sum, value);
}

template <class T>
const std::vector<T>& MlpLayers<T>::forward(std::vector<T> inputs, int rows, const ReadyCallback& ready) {
  rows_ = rows;
  given_ = std::move(inputs);
  if (bfloat16_) round_to_bfloat16(std::span(given_));
  for (std::size_t l = 0; l < layers(); ++l) {
    ready.forward(static_cast<int>(l));
    if (bfloat16_ && l > 0) round_to_bfloat16(std::span(inputs_[l].data(), static_cast<std::size_t>(rows) * in(l)));
    add_up(l);
    ready.release(static_cast<int>(l));
    if (l + 1 < layers()) apply_activation(l);
  }
  const T* const last = sums_.back().data();
  outputs_.assign(last, last + static_cast<std::size_t>(rows) * out(layers() - 1));
  return outputs_;
}

template <class T>
void MlpLayers<T>::backward(std::vector<T> by_output, std::span<const TensorRef> gradients,
                            const ReadyCallback& ready) {
  AlignedBuffer<T> held[2];
  T* by_sum = by_output.data();
  for (std::size_t l = layers(); l-- > 0;) {
    ready.backward(static_cast<int>(l));
    const DenseGradient<T> gradient{in(l), out(l), static_cast<T*>(gradients[2 * l].data),
                                    static_cast<T*>(gradients[2 * l + 1].data)};
    gradient.add_bias(rows_, by_sum);
    if (bfloat16_) round_to_bfloat16(std::span(by_sum, static_cast<std::size_t>(rows_) * out(l)));
    gradient.add_weights(rows_, input(l), by_sum);
    ready(static_cast<int>(2 * l + 1));
    ready(static_cast<int>(2 * l));
    if (l == 0) {
      ready.release(0);
      return;
    }
    T* const by_input = held[l % 2].reserve(static_cast<std::size_t>(rows_) * in(l));
    DenseLayer<T>{in(l), out(l), weights_of(l)}.input_gradient(rows_, by_sum, by_input);
    ready.release(static_cast<int>(l));
    if (!is_plain(l - 1))
      times_slope(activation_, std::int64_t{rows_} * in(l), sums_[l - 1].data(), inputs_[l].data(), by_input);
    by_sum = by_input;
  }
}

template class MlpLayers<double>;
template class MlpLayers<float>;

}  // namespace cambium::train
