#pragma once
#include <optional>
#include <vector>

#include "core/train/kinds/network.hpp"

namespace cambium::train {

/// The loss of samples that are not trained on, reduced as the training loss is: the weighted sum of the terms' means.
class HeldOutLoss {
 public:
  explicit HeldOutLoss(Network& network);
  /// The network says enough for it.
  bool known() const { return asks() || !metrics_.empty(); }
  /// It is asked by GivesLoss; else the loss is made of metrics.
  bool asks() const { return asks_; }
  /// Of sums over all samples: of the metrics, and of the terms where it asks().
  double of(std::span<const double> term_weights, std::span<const TermSum> metrics,
            std::span<const TermSum> terms) const;

 private:
  bool asks_ = false;
  std::vector<std::size_t> metrics_;  ///< for each term of the loss the number of the metric that it is
};

}  // namespace cambium::train
