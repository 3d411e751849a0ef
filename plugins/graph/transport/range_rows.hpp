#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "core/sparse/row_exchange.hpp"
#include "plugins/graph/tiles/parts.hpp"

namespace cambium::graph {

/// Values of nodes between the ranks that have them and runs of nodes in the order of the run, one of each rank: a
/// checkpoint holds that order, whatever the partition, and gives it back to any number of ranks.
class RangeRows {
 public:
  /// Collective. `runs`: where they begin, ranks + 1 numbers.
  RangeRows(const sparse::Parts& parts, const std::vector<std::int64_t>& runs, const Comm& comm);

  /// Collective: own x width to those of this rank's run.
  void collect(std::span<const double> own, std::int64_t width, std::span<double> run);
  /// Collective: the way back.
  void distribute(std::span<const double> run, std::int64_t width, std::span<double> own);

 private:
  sparse::RowExchange<double> collect_, distribute_;
  /// Where a row comes from: the rows that this rank has, then those that are fetched.
  std::vector<std::int32_t> from_own_, from_run_;
};

}  // namespace cambium::graph
