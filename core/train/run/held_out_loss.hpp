#pragma once
#include <optional>
#include <vector>

#include "core/train/kinds/network.hpp"

namespace cambium::train {

/// Loss of held-out samples, reduced like the training loss: the weighted sum of the terms' means.
class HeldOutLoss {
 public:
  explicit HeldOutLoss(Network& network);
  /// True if the network provides enough to compute it.
  bool known() const { return asks() || !metrics_.empty(); }
  /// True if the network implements GivesLoss; else the loss is computed from metrics.
  bool asks() const { return asks_; }
  /// Loss from sums over all samples: of the metrics, and of the terms if asks().
  double of(std::span<const double> term_weights, std::span<const TermSum> metrics,
            std::span<const TermSum> terms) const;

 private:
  bool asks_ = false;
  std::vector<std::size_t> metrics_;  ///< for each term of the loss the index of the corresponding metric
};

}  // namespace cambium::train
