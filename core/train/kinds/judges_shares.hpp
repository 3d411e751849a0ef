#pragma once
#include <span>

#include "core/train/kinds/network.hpp"

namespace cambium::train {

/// A network that computes all samples at once and leaves the answer to each on one rank: validation asks it for sums
/// in place of begin_evaluation() and evaluate().
class JudgesShares {
 public:
  virtual ~JudgesShares() = default;
  /// Collective: sets the sums of the metrics over all samples of `data`, the same bits for any number of ranks. False
  /// where there are none.
  virtual bool evaluate_all(Dataset& data, std::span<const TensorRef> weights, std::span<TermSum> metrics) = 0;
};

}  // namespace cambium::train
