#pragma once
#include <functional>

#include "core/train/low_rank/cost_table.hpp"
#include "core/train/low_rank/equal_time.hpp"

namespace cambium::train {

/// Loss of a network with one candidate per layer.
using RankLoss = std::function<double(const Choice& choice)>;

struct Exchanged {
  Choice choice;
  double loss = 0.0;
  std::int64_t looked_at = 0;  ///< evaluated losses
};
/// Improves ranks at equal time. Gain and loss of one or two steps of each layer are measured with all other layers
/// unchanged. Of the combinations within `seconds` predicted to be best (the best sum over all layers, and pairs of
/// layers that trade time) some are evaluated, and the best is taken. Repeated until there is no improvement, from each
/// of `from` (within `seconds`, the best first), or until `most` losses have been evaluated.
Exchanged exchange_ranks(const CostTable& costs, const std::vector<Choice>& from, double seconds, const RankLoss& loss,
                         std::int64_t most);

}  // namespace cambium::train
