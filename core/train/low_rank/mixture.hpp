#pragma once
#include <span>
#include <vector>

#include "core/train/low_rank/cost_table.hpp"
#include "core/train/low_rank/decompose.hpp"

namespace cambium::train {

/// Replaces layers of the full network by mixtures of their candidates; the destructor restores the network.
class Mixture {
 public:
  Mixture(const CostTable& costs, LoadedModel& whole);
  ~Mixture();
  Mixture(const Mixture&) = delete;
  Mixture& operator=(const Mixture&) = delete;

  /// Loss with these probabilities, and its derivatives by them, divided by the number of samples.
  double loss(const std::vector<std::vector<double>>& chances, std::span<const SamplePtr> samples,
              std::vector<std::vector<double>>& by_chance);
  /// Loss with one candidate per layer.
  double loss(const std::vector<std::size_t>& choice, std::span<const SamplePtr> samples, std::int64_t batch);

 private:
  void mix(std::size_t l, const std::vector<double>& chances);

  const CostTable& costs_;
  LoadedModel& whole_;
  FlatBuffer gradients_;
  std::vector<LayerWeights> kept_;
  std::vector<std::vector<std::vector<float>>> products_;  ///< by layer and candidate; empty for unfactored layers
};

}  // namespace cambium::train
