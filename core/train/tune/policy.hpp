#pragma once
#include <vector>

#include "core/train/tune/trial.hpp"

namespace cambium::tune {

/// Probabilities of the choices of every decision.
using Policy = std::vector<std::vector<double>>;

/// Policy trained on `finished` trials by proximal policy optimisation (Schulman et al., arXiv 1707.06347): a table of
/// logits, one for each choice of each decision, initially uniform. After every `batch` finished trials, in order,
/// `epochs` steps of gradient ascent on
/// order, `epochs` steps of gradient ascent on
///   mean over trials and decisions of min(q A, clip(q, 1 - clip, 1 + clip) A) + entropy H,
/// where q is the probability of the choice over that under the policy that proposed the trial, A the trial's reward
/// less the batch's mean in units of its standard deviation, and H the entropy of the decision. Failed trials have the
/// lowest reward among the others of the batch. A pure function.
Policy taught_policy(const SearchSpace& space, const PolicyOptions& options, const std::vector<Trial>& finished);

}  // namespace cambium::tune
