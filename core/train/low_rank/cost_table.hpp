#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/train/kinds/factor_layers.hpp"
#include "core/train/low_rank/choose_ranks.hpp"
#include "core/train/weights/artifact.hpp"

namespace cambium::train {

/// A network with ranks and the weights derived from the full one.
struct Assembled {
  deck::Node keys;  ///< of the network, including `factor_ranks`
  std::unique_ptr<Network> network;
  std::unique_ptr<FlatLayout> layout;
  FlatBuffer weights;
};
Assembled assemble(LoadedModel& whole, std::span<const std::int64_t> ranks, Context& context);

/// Layers of a network that implements HasFactors; InputError for another one, `path` being its file.
std::vector<FactorLayer> factor_layers(Network& network, const std::string& type, const std::string& path);

/// Training loss over these samples: mean of every term times its weight at the start of training.
double loss_of(Network& network, FlatBuffer& weights, std::span<const SamplePtr> samples, std::int64_t batch);

/// Cost and saving of every candidate of every layer, measured on this machine with only that layer factored.
struct CostTable {
  std::vector<FactorLayer> layers;
  std::vector<std::vector<RankCandidate>> candidates;  ///< by layer
  double loss = 0.0, seconds = 0.0;                    ///< of the full network
  bool counted = false;  ///< all seconds are multiplications per sample instead, without timing

  /// Ranks of one candidate per layer, and their predicted time.
  std::vector<std::int64_t> ranks(const std::vector<std::size_t>& choice) const;
  double predicted(const std::vector<std::size_t>& choice) const;
};
/// Inputs of measure_costs().
struct CostSamples {
  std::span<const SamplePtr> chosen_by;  ///< for losses
  std::span<const SamplePtr> timed;
};

/// Losses use the multiplied-out product in the full network, times the factors themselves (time_table.hpp): measured
/// on rank 0, returned on all ranks. A layer with less than 1/200 of the multiplications is not factored. `counted`:
/// multiplications instead of times.
CostTable measure_costs(LoadedModel& whole, const std::string& path, const CostSamples& samples, std::int64_t multiple,
                        bool counted, Context& context);

/// Replaces times by multiplications per sample.
void count_multiplications(CostTable& table);

}  // namespace cambium::train
