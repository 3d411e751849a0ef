#pragma once
#include <span>

#include "core/train/kinds/network.hpp"

namespace cambium::train {

/// Interface of a network that gives the terms of its loss without their gradient, for samples that it is not trained
/// on. Without it the loss is that of metrics() which are terms().
class GivesLoss {
 public:
  virtual ~GivesLoss() = default;
  /// Adds what gradient() adds to `terms`; what is random in training (dropped activations, noise) is left out. Never
  /// called without samples.
  virtual void add_loss(std::span<const SamplePtr> samples, std::span<const TensorRef> weights,
                        std::span<TermSum> terms) = 0;
};

}  // namespace cambium::train
