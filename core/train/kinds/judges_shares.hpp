#pragma once
#include <span>

#include "core/train/kinds/network.hpp"

namespace cambium::train {

/// A network that computes all samples at once, with the output of each on one rank: validation calls evaluate_all() in
/// place of begin_evaluation() and evaluate().
class JudgesShares {
 public:
  virtual ~JudgesShares() = default;
  /// Collective: sets the sums of the metrics over all samples of `data`, bitwise identical for any number of ranks.
  /// Returns false if there are no samples.
  virtual bool evaluate_all(Dataset& data, std::span<const TensorRef> weights, std::span<TermSum> metrics) = 0;
};

}  // namespace cambium::train
