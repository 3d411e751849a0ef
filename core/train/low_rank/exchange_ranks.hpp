#pragma once
#include <functional>

#include "core/train/low_rank/cost_table.hpp"
#include "core/train/low_rank/equal_time.hpp"

namespace cambium::train {

/// The loss of a network with one candidate of each layer.
using RankLoss = std::function<double(const Choice& choice)>;

struct Exchanged {
  Choice choice;
  double loss = 0.0;
  std::int64_t looked_at = 0;  ///< losses
};
/// Ranks that lose less in the same time. What one or two steps of each layer gain and lose is measured with all other
/// layers as they are; of the combinations within `seconds` that should then be best (the best sum over all layers, and
/// pairs of layers, of which one pays for the other) some are looked at with their own loss, and the best is taken.
/// Until none is better, from each of `from` (within `seconds`, the best first), or until `most` losses have been
/// looked at.
Exchanged exchange_ranks(const CostTable& costs, const std::vector<Choice>& from, double seconds, const RankLoss& loss,
                         std::int64_t most);

}  // namespace cambium::train
