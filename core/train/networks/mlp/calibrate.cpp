#include <algorithm>

#include "core/base/error.hpp"
#include "core/lowp/calibrated.hpp"
#include "core/train/networks/mlp/coded_weights.hpp"

namespace cambium::train {

void CodedWeights::watch(int k, const float* x, int rows) const {
  if (!inputs_of_.contains(k) || (!watch_->all && watch_->layer != k)) return;
  auto& seen = watch_->inputs[k];
  if (seen.empty()) watch_->order.push_back(k);
  const auto n = static_cast<std::size_t>(inputs_of_.at(k));
  const std::size_t count = std::min(n * static_cast<std::size_t>(rows), (most_numbers - seen.size()) / n * n);
  seen.insert(seen.end(), x, x + count);
}

void CodedWeights::calibrate_layer(int k, const TensorRef& weights, const std::vector<float>& full,
                                   const std::vector<float>& rounded) {
  const auto inputs = lowp::input_moments(full, rounded, inputs_of_.at(k));
  const auto w = transposed(weights);
  const auto found = coded_.find(k);
  if (found != coded_.end()) {
    const bool ternary = params_.weights == QuantizeParams::Weights::ternary;
    auto fitted = lowp::calibrated(std::move(found->second), ternary, w, inputs);
    found->second = std::move(fitted.matrix);
    shift_[k] = std::move(fitted.shift);
    by_columns_.erase(k);
    return;
  }
  // An unquantised layer: the effect of earlier rounding on the mean of its product.
  auto& shift = shift_[k];
  const auto n = static_cast<std::size_t>(inputs.columns);
  for (std::size_t row = 0; row < w.size() / n; ++row) {
    double sum = 0.0;
    for (std::size_t c = 0; c < n; ++c) sum += w[row * n + c] * (inputs.full_mean[c] - inputs.mean[c]);
    shift.push_back(static_cast<float>(sum));
  }
}

void CodedWeights::calibrate(Network& network, std::span<const TensorRef> weights, std::span<const SamplePtr> samples) {
  constexpr std::size_t batch = 8;
  const auto pass = [&](Watch what) {
    watch_ = std::move(what);
    std::vector<TermSum> sums(network.metrics().size());
    for (std::size_t k = 0; k < samples.size(); k += batch)
      network.evaluate(samples.subspan(k, std::min(batch, samples.size() - k)), weights, sums);
    what = std::move(*watch_);
    watch_.reset();
    return what;
  };
  network.use_coded(*this);
  const Watch full = pass({.all = true});
  for (const int k : full.order) {
    Watch here = pass({.layer = k});
    calibrate_layer(k, weights[k], full.inputs.at(k), here.inputs.at(k));
  }
  for (const auto& [k, shift] : shift_) bytes_ += static_cast<std::int64_t>(4 * shift.size());
}

}  // namespace cambium::train
