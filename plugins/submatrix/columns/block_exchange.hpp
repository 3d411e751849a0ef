#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "core/parallel/comm.hpp"
#include "plugins/submatrix/columns/block_columns.hpp"

namespace cambium::submatrix {

/// Which blocks of the wanted columns are needed.
enum class WantedRows {
  all,
  among_wanted,        ///< only rows that are wanted columns too: principal submatrices
  upper_among_wanted,  ///< of these, only rows <= column: enough for a symmetric matrix
  owned,               ///< only rows that are columns of the requesting rank: mirror images of its own blocks
};

/// Block columns of a distributed matrix that a rank works with: its own and copies of others'.
class ColumnSet {
 public:
  ColumnSet(const BlockColumns& own, BlockColumns remote) : own_(&own), remote_(std::move(remote)) {}
  /// The column; InternalError when this rank neither owns nor fetched it.
  BlockColumn operator()(int column) const;

 private:
  const BlockColumns* own_;
  BlockColumns remote_;
};

/// Collective. Copies of the columns `wanted` (ascending) that this rank does not own, each block sent once, packed,
/// one message per pair of ranks. Off-diagonal blocks with a norm below `least`, one value for each wanted column, may
/// be omitted; without it all are sent. Adds the bytes received to `bytes`. `own` must outlive the result.
ColumnSet fetch_columns(const BlockColumns& own, const ColumnRanges& ranges, const std::vector<int>& wanted,
                        WantedRows rows, const Comm& comm, std::int64_t& bytes, std::span<const double> least = {});

/// Collective. The same matrix with another distribution.
BlockColumns redistributed(const BlockColumns& own, const ColumnRanges& now, const ColumnRanges& then,
                           const Comm& comm);

}  // namespace cambium::submatrix
