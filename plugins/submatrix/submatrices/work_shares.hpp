#pragma once
#include <span>

#include "core/parallel/comm.hpp"
#include "plugins/submatrix/columns/block_columns.hpp"

namespace cambium::submatrix {

/// Assignment of block columns to the ranks that solve their submatrices, which need not be their owners: ranges of
/// columns are owned before the submatrices are known.
struct WorkShares {
  ColumnRanges ranges;
  double owned = 1.0;  ///< efficiency by cost where owners solve: mean of the ranks over the largest
  double dealt = 1.0;  ///< the same of `ranges`
};

/// Efficiency from which a distribution is not changed, so that nothing is sent.
inline constexpr double good_efficiency = 0.95;

/// Collective; 16 bytes for each rank are summed. `cost` of own columns, in their order, in any unit. Contiguous ranges
/// of equal cost where they are better than `owned`, else `owned`. The same on every rank.
WorkShares work_shares(std::span<const double> cost, const ColumnRanges& owned, const Comm& comm);

}  // namespace cambium::submatrix
