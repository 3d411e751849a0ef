#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/log.hpp"
#include "core/sparse/csr.hpp"
#include "plugins/graph/tiles/parts.hpp"

namespace cambium::graph {

/// Work per node and step that does not depend on its neighbours, in units of matrix entries: vectors that are read and
/// written, compared with a row product that reads a column index and a value per entry.
constexpr std::int64_t work_of_a_node = 8;

/// First node of each rank's range, and the number of all nodes: contiguous ranges with work as equal as possible,
/// since a few nodes of a network have most of its edges. None is empty if there are at least as many nodes as ranks.
std::vector<std::int64_t> first_nodes(const sparse::Csr<double>& pattern, int ranks);

/// Partition of the nodes of a simulation over ranks.
enum class Partition {
  automatic,  ///< `cut` if ranks then receive at least a tenth fewer rows than with `ranges`
  ranges,     ///< contiguous ranges in the order of the run, which has a small bandwidth
  cut         ///< parts of equal work with few external neighbours (METIS)
};

/// Assignment of nodes to ranks.
struct Ownership {
  sparse::Parts parts;              ///< rank r has parts.order[parts.first[r]] to parts.order[parts.first[r + 1] - 1]
  bool ranges = true;               ///< parts are contiguous ranges
  std::int64_t halo = 0;            ///< rows received in an exchange, summed over ranks
  std::int64_t halo_of_ranges = 0;  ///< the same with contiguous ranges
  double imbalance = 1.0;           ///< work of the busiest rank over the mean

  /// For the log: "parts by METIS 5.1.0, work 1.04 of the mean at most".
  std::string text() const;
};

/// The same on every rank for the same pattern (symmetric, of the full graph). InputError for more ranks than nodes; a
/// warning if `cut` is requested and the build has no METIS.
Ownership ownership_of(const sparse::Csr<double>& pattern, int ranks, Partition partition, Log& log);

}  // namespace cambium::graph
