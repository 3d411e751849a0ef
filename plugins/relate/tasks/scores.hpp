#pragma once
#include <span>

namespace cambium::relate {

/// Fraction of the pairs of samples with different truths whose predictions have the same order; equal predictions
/// count one half (Harrell's concordance). O(n log n). NaN if all truths are equal.
double concordance(std::span<const double> truth, std::span<const double> predicted);

double mean_squared_error(std::span<const double> truth, std::span<const double> predicted);

/// The w in [0, 1] for which w times the first plus 1 - w times the second prediction has the lowest squared error.
double share_of_first(std::span<const double> truth, std::span<const double> first, std::span<const double> second);

/// Area under the ROC curve: the concordance for binary truth ("more than `threshold`" counts as 1).
double area_under_curve(std::span<const double> truth, std::span<const double> predicted, double threshold);

/// Mean of -log p of the outcomes, with probabilities clipped to [1e-12, 1 - 1e-12].
double log_loss(std::span<const double> truth, std::span<const double> probability);

}  // namespace cambium::relate
