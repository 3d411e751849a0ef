#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "plugins/submatrix/columns/block_exchange.hpp"

namespace cambium::submatrix {

struct CongruenceOptions {
  double prune = 0.0;  ///< a product of two blocks is left out when the product of their norms is below this
  double keep = 0.0;   ///< blocks of the result with a smaller norm are dropped (diagonal blocks never)
  /// Block rows of the result's column, ascending; empty function: all that arise.
  std::function<std::vector<int>(int column)> pattern;
  double* dropped =
      nullptr;  ///< becomes, if larger, the sum of the squared norms of the blocks of one column that are dropped
};

/// Collective: Z M Z for symmetric block-sparse Z and M, own columns. Adds received bytes and floating-point
/// operations.
BlockColumns congruence(const BlockColumns& z, const BlockColumns& m, const ColumnRanges& ranges, const Comm& comm,
                        const CongruenceOptions& options, std::int64_t& bytes, double& flops);

}  // namespace cambium::submatrix
