#pragma once
#include <span>

namespace cambium::relate {

/// Share of the pairs of samples with different truths whose predictions stand in the same order; equal predictions
/// count one half (Harrell's concordance). O(n log n). Not a number where all truths are equal.
double concordance(std::span<const double> truth, std::span<const double> predicted);

double mean_squared_error(std::span<const double> truth, std::span<const double> predicted);

/// The w in [0, 1] for which w times the first and 1 - w times the second prediction have the least squared error.
double share_of_first(std::span<const double> truth, std::span<const double> first, std::span<const double> second);

/// Area under the curve of right against wrong alarms: the concordance where truth is 0 or 1 ("more than `threshold`"
/// counts as 1).
double area_under_curve(std::span<const double> truth, std::span<const double> predicted, double threshold);

/// Mean of -log p of what happened, of probabilities kept between 1e-12 and 1 - 1e-12.
double log_loss(std::span<const double> truth, std::span<const double> probability);

}  // namespace cambium::relate
