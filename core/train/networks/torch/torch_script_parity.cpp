#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/train/networks/mlp/field.hpp"
#include "core/train/networks/mlp/mlp_loss.hpp"
#include "core/train/networks/torch/inferred.hpp"
#include "core/train/networks/torch/torch_script.hpp"

namespace cambium::train {

namespace {

constexpr std::int64_t most_components = 64;

/// Replaces scores of one sample by probabilities.
void softmax_in_place(double* row, std::int64_t classes) {
  const double largest = *std::max_element(row, row + classes);
  double sum = 0.0;
  for (std::int64_t c = 0; c < classes; ++c) sum += row[c] = std::exp(row[c] - largest);
  for (std::int64_t c = 0; c < classes; ++c) row[c] /= sum;
}

}  // namespace

/// Indices in outputs_ of the outputs that are compared with targets: all of them, or every second one for
/// gaussian_nll.
std::vector<std::size_t> TorchScript::compared_outputs() const {
  std::vector<std::size_t> out;
  if (!params_.loss_file.empty() || params_.loss == ScriptedLoss::Kind::cross_entropy) return out;
  const std::size_t step = params_.loss == ScriptedLoss::Kind::gaussian_nll ? 2 : 1;
  for (std::size_t k = 0; k < targets_.size() && k * step < outputs_.size(); ++k)
    if (numbers_of(outputs_[k * step]) <= most_components) out.push_back(k * step);
  return out;
}

std::vector<io::ParityQuantity> TorchScript::parity_quantities() const {
  std::vector<io::ParityQuantity> out;
  const std::size_t step = params_.loss == ScriptedLoss::Kind::gaussian_nll ? 2 : 1;
  for (const auto k : compared_outputs()) {
    std::vector<std::string> components;
    const auto numbers = numbers_of(outputs_[k]);
    for (std::int64_t c = 0; numbers > 1 && c < numbers; ++c) components.push_back(std::to_string(c));
    out.push_back({targets_[k / step], outputs_[k].unit, "target of the module", {"sample"}, components, {}, {}, {}});
  }
  return out;
}

void TorchScript::add_parity(std::span<const SamplePtr> samples, std::span<const TensorRef> weights,
                             std::span<io::ParityQuantity> quantities) {
  if (samples.empty()) return;
  const auto given = inferred(*this, samples, weights);
  const auto outputs = compared_outputs();
  for (std::size_t k = 0; k < quantities.size(); ++k) {
    auto& q = quantities[k];
    q.predicted.insert(q.predicted.end(), given[outputs[k]].begin(), given[outputs[k]].end());
    std::vector<double> target(q.width());
    for (const auto& sample : samples) {
      read_field<double>(*sample, q.name, target);
      q.reference.insert(q.reference.end(), target.begin(), target.end());
      q.place.push_back(sample->id);
    }
  }
}

std::int64_t TorchScript::parity_classes() const {
  const bool classifies = params_.loss_file.empty() && params_.loss == ScriptedLoss::Kind::cross_entropy;
  return classifies && targets_.size() == 1 && outputs_.size() == 1 && outputs_[0].shape.size() == 1
             ? outputs_[0].shape[0]
             : 0;
}

void TorchScript::add_classes(std::span<const SamplePtr> samples, std::span<const TensorRef> weights,
                              ClassPredictions& predictions) {
  if (samples.empty()) return;
  auto scores = inferred(*this, samples, weights)[0];
  for (std::size_t s = 0; s < samples.size(); ++s)
    softmax_in_place(scores.data() + s * static_cast<std::size_t>(predictions.classes), predictions.classes);
  predictions.probability.insert(predictions.probability.end(), scores.begin(), scores.end());
  for (const auto& sample : samples) {
    predictions.sample.push_back(sample->id);
    predictions.label.push_back(class_of(*sample, targets_[0], predictions.classes));
  }
}

}  // namespace cambium::train
