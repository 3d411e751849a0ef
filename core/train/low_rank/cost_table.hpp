#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/train/kinds/factor_layers.hpp"
#include "core/train/low_rank/choose_ranks.hpp"
#include "core/train/weights/artifact.hpp"

namespace cambium::train {

/// A network with ranks and the weights that a whole one gives it.
struct Assembled {
  deck::Node keys;  ///< of the network, `ranks` among them
  std::unique_ptr<Network> network;
  std::unique_ptr<FlatLayout> layout;
  FlatBuffer weights;
};
Assembled assemble(LoadedModel& whole, std::span<const std::int64_t> ranks, Context& context);

/// The layers of a network that HasFactors; InputError for another one, `path` being its file.
std::vector<FactorLayer> factor_layers(Network& network, const std::string& type, const std::string& path);

/// The loss of training over these samples: every term's mean by its weight at the begin of a training.
double loss_of(Network& network, FlatBuffer& weights, std::span<const SamplePtr> samples, std::int64_t batch);

/// Cost and saving of every candidate of every layer, measured here with that layer alone being a product.
struct CostTable {
  std::vector<FactorLayer> layers;
  std::vector<std::vector<RankCandidate>> candidates;  ///< by layer
  double loss = 0.0, seconds = 0.0;                    ///< of the whole network
  bool counted = false;  ///< multiplications of a sample stand in place of all seconds, and no clock is asked

  /// Ranks of one candidate a layer, and the time predicted for them.
  std::vector<std::int64_t> ranks(const std::vector<std::size_t>& choice) const;
  double predicted(const std::vector<std::size_t>& choice) const;
};
/// Inputs of measure_costs().
struct CostSamples {
  std::span<const SamplePtr> chosen_by;  ///< losses
  std::span<const SamplePtr> timed;
};

/// Losses with the product multiplied out inside the whole network, times with the product itself (time_table.hpp):
/// those that rank 0 measured, on all ranks. A layer with less than a two-hundredth of the multiplications stays whole.
/// `counted`: multiplications in place of times.
CostTable measure_costs(LoadedModel& whole, const std::string& path, const CostSamples& samples, std::int64_t multiple,
                        bool counted, Context& context);

/// Puts multiplications of a sample in place of times.
void count_multiplications(CostTable& table);

}  // namespace cambium::train
