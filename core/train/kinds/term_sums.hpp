#pragma once
#include <span>
#include <vector>

#include "core/train/kinds/network.hpp"

namespace cambium::train {

/// Loss of a global batch before its step.
struct Loss {
  double value = 0.0;          ///< weighted sum of the terms' means, each over its own count
  std::vector<TermSum> terms;  ///< over all samples, unweighted
};

/// Value of a term in the log: report(sum / count); NaN when nothing was counted.
double reported(const TermInfo& info, const TermSum& sum);

/// Sums over the rows of a table that was reduced over ranks (each row filled by one rank, zeros elsewhere), in the
/// order of rows, so the result does not depend on the number of ranks.
std::vector<TermSum> add_rows(std::span<const TermSum> table, std::size_t terms);

/// Weighted loss of a batch: sum over the terms of weight x sum / count, each mean being over the term's own count (for
/// example the frames with an energy). Terms with a count of zero add nothing.
double weighted_loss(std::span<const double> weights, std::span<const TermSum> sums);

/// Values of a table, for a sum over ranks.
std::span<double> numbers_of(std::span<TermSum> table);

}  // namespace cambium::train
