#include "core/train/low_rank/mixture.hpp"

#include <algorithm>

#include "core/train/kinds/term_sums.hpp"

namespace cambium::train {

Mixture::Mixture(const CostTable& costs, LoadedModel& whole)
    : costs_(costs), whole_(whole), gradients_(whole.weights.layout(), whole.weights.dtype()) {
  for (std::size_t l = 0; l < costs.layers.size(); ++l) {
    const auto& layer = costs.layers[l];
    auto& list = products_.emplace_back();
    kept_.push_back(read_layer(layer, whole.weights));
    if (costs.candidates[l].size() == 1) continue;
    for (const auto& candidate : costs.candidates[l]) {
      auto w = kept_.back();
      if (candidate.rank > 0) w = multiplied(factors_of(w, candidate.rank), layer.outputs, layer.inputs, layer.taps);
      list.emplace_back(w.values.begin(), w.values.end());
    }
  }
}

Mixture::~Mixture() {
  for (std::size_t l = 0; l < kept_.size(); ++l) write_layer(kept_[l], costs_.layers[l], whole_.weights);
}

double Mixture::loss(const std::vector<std::vector<double>>& chances, std::span<const SamplePtr> samples,
                     std::vector<std::vector<double>>& by_chance) {
  for (std::size_t l = 0; l < products_.size(); ++l) mix(l, chances[l]);
  auto& network = *whole_.network;
  const auto by = network.term_weights(0, 1.0);
  std::vector<TermSum> sums(network.terms().size());
  gradients_.zero();
  network.gradient(samples, whole_.weights.views(), by, gradients_.views(), sums, [](int) {});
  for (std::size_t l = 0; l < products_.size(); ++l) {
    if (products_[l].empty()) continue;
    const auto g = read_layer(costs_.layers[l], gradients_);
    for (std::size_t k = 0; k < products_[l].size(); ++k) {
      double dot = 0.0;
      for (std::size_t i = 0; i < g.values.size(); ++i) dot += g.values[i] * static_cast<double>(products_[l][k][i]);
      by_chance[l][k] = dot / static_cast<double>(samples.size());
    }
  }
  return weighted_loss(by, sums);
}

double Mixture::loss(const std::vector<std::size_t>& choice, std::span<const SamplePtr> samples, std::int64_t batch) {
  for (std::size_t l = 0; l < choice.size(); ++l) {
    std::vector<double> chances(costs_.candidates[l].size(), 0.0);
    chances[choice[l]] = 1.0;
    mix(l, chances);
  }
  return loss_of(*whole_.network, whole_.weights, samples, batch);
}

void Mixture::mix(std::size_t l, const std::vector<double>& chances) {
  if (products_[l].empty()) return;
  LayerWeights w = kept_[l];
  std::fill(w.values.begin(), w.values.end(), 0.0);
  for (std::size_t k = 0; k < products_[l].size(); ++k)
    for (std::size_t i = 0; i < w.values.size(); ++i)
      w.values[i] += chances[k] * static_cast<double>(products_[l][k][i]);
  write_layer(w, costs_.layers[l], whole_.weights);
}

}  // namespace cambium::train
