#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "core/sparse/row_exchange.hpp"
#include "plugins/graph/tiles/parts.hpp"

namespace cambium::graph {

/// Transfers values between the ranks that own nodes and contiguous ranges in the order of the run, one per rank: a
/// checkpoint stores that order for any partition and can be read on any number of ranks.
class RangeRows {
 public:
  /// Collective. `runs`: first node of each range, ranks + 1 values.
  RangeRows(const sparse::Parts& parts, const std::vector<std::int64_t>& runs, const Comm& comm);

  /// Collective: own x width to the values of this rank's range.
  void collect(std::span<const double> own, std::int64_t width, std::span<double> run);
  /// Collective: the reverse transfer.
  void distribute(std::span<const double> run, std::int64_t width, std::span<double> own);

 private:
  sparse::RowExchange<double> collect_, distribute_;
  /// Source of each row: first the local rows, then the fetched ones.
  std::vector<std::int32_t> from_own_, from_run_;
};

}  // namespace cambium::graph
