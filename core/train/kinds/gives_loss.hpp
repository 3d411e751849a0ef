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
  /// called without samples, and always right behind evaluate() of the same samples with the same weights, so that what
  /// both need may be kept.
  virtual void add_loss(std::span<const SamplePtr> samples, std::span<const TensorRef> weights,
                        std::span<TermSum> terms) = 0;
};

/// Adds sums term by term.
inline void add_terms(std::span<const TermSum> sums, std::span<TermSum> terms) {
  for (std::size_t k = 0; k < terms.size(); ++k) terms[k].sum += sums[k].sum, terms[k].count += sums[k].count;
}

}  // namespace cambium::train
