#pragma once
#include <span>

#include "core/train/kinds/network.hpp"

namespace cambium::train {

/// Interface of a network that computes the terms of its loss without gradients, for samples outside the training set.
/// Without it the loss consists of those metrics() that are terms().
class GivesLoss {
 public:
  virtual ~GivesLoss() = default;
  /// Adds what gradient() adds to `terms`, without the randomness of training (dropout, noise). Never called without
  /// samples, and always directly after evaluate() with the same samples and weights, so common intermediate results
  /// may be cached.
  virtual void add_loss(std::span<const SamplePtr> samples, std::span<const TensorRef> weights,
                        std::span<TermSum> terms) = 0;
};

/// Adds sums term by term.
inline void add_terms(std::span<const TermSum> sums, std::span<TermSum> terms) {
  for (std::size_t k = 0; k < terms.size(); ++k) terms[k].sum += sums[k].sum, terms[k].count += sums[k].count;
}

}  // namespace cambium::train
