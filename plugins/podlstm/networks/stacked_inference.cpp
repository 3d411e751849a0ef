// Inference from a model file: the window of a series, in the unit of the training data, to the times after it.
#include "core/train/data/subset.hpp"
#include "core/train/networks/mlp/field.hpp"
#include "plugins/podlstm/networks/stacked_lstm.hpp"

namespace cambium::podlstm {

ModeScaling mode_scaling_of(const train::Dataset& data) {
  if (const auto* subset = dynamic_cast<const train::Subset*>(&data)) return mode_scaling_of(subset->whole());
  const auto* scales = dynamic_cast<const ScalesModes*>(&data);
  return scales ? scales->mode_scaling() : ModeScaling{};
}

train::NetworkTraits StackedLstm::traits() {
  train::NetworkTraits out{.factors = this, .fields = this};
  if (scaled()) out.spared_labels = {"coefficients"};  // the loss reads the scaled window
  return out;
}

std::vector<std::string> StackedLstm::fields_to_infer() const { return {scaled() ? "coefficients" : "window"}; }

std::vector<train::FieldInfo> StackedLstm::outputs() const {
  return {{"forecast", scaling_.unit, {future_, modes_}, DType::f64}};
}

void StackedLstm::infer(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
                        std::span<const TensorRef> outputs) {
  if (samples.empty()) return;
  const auto width = static_cast<std::size_t>(past_ * graph_.features), modes = static_cast<std::size_t>(modes_);
  const std::string name = fields_to_infer().front();
  std::vector<double> window(width);
  std::vector<float> windows;
  windows.reserve(samples.size() * width);
  for (const auto& sample : samples) {
    train::read_field<double>(*sample, name, window);
    for (std::size_t i = 0; i < width; ++i) {
      const std::size_t k = i % modes;
      windows.push_back(static_cast<float>(scaled() ? (window[i] - scaling_.low[k]) / scaling_.width[k] : window[i]));
    }
  }
  const auto found = predict(windows.data(), std::ssize(samples), weights);
  const TensorRef& to = outputs[0];
  auto* out = static_cast<double*>(to.data);
  for (std::int64_t s = 0, i = 0; s < std::ssize(samples); ++s)
    for (std::int64_t t = 0; t < future_; ++t)
      for (std::int64_t m = 0; m < modes_; ++m, ++i) {
        const double y = found[static_cast<std::size_t>(i)];
        const auto k = static_cast<std::size_t>(m);
        out[s * to.stride[0] + t * to.stride[1] + m * to.stride[2]] =
            scaled() ? scaling_.low[k] + scaling_.width[k] * y : y;
      }
}

}  // namespace cambium::podlstm
