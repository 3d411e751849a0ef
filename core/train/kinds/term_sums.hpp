#pragma once
#include <span>
#include <vector>

#include "core/train/kinds/network.hpp"

namespace cambium::train {

/// The loss of a global batch before its step.
struct Loss {
  double value = 0.0;          ///< weighted sum of the terms' means, each over what the term counts
  std::vector<TermSum> terms;  ///< of all samples, not weighted
};

/// Value of a term in the log: report(sum / count); NaN when nothing was counted.
double reported(const TermInfo& info, const TermSum& sum);

/// Sums over the rows of a table that ranks have added up (each row filled by one rank, zeros elsewhere), in the rows'
/// order, so that they do not depend on the number of ranks.
std::vector<TermSum> add_rows(std::span<const TermSum> table, std::size_t terms);

/// The weighted loss of a batch: sum over the terms of weight x sum / count, each term's mean being over what it
/// counts (frames that have an energy, say). Terms that counted nothing add nothing.
double weighted_loss(std::span<const double> weights, std::span<const TermSum> sums);

/// A table's numbers, for a sum over ranks.
std::span<double> numbers_of(std::span<TermSum> table);

}  // namespace cambium::train
