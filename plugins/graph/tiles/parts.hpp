#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/log.hpp"
#include "plugins/graph/tiles/neighbours.hpp"

namespace cambium::sparse {

/// A partition of the nodes of a graph: part p has the nodes order[first[p]] to order[first[p + 1] - 1], by their old
/// indices, ascending within a part. `order` can be passed to permuted().
struct Parts {
  std::vector<std::int32_t> order;
  std::vector<std::int64_t> first{0};  ///< parts + 1 offsets
  std::string method;                  ///< partitioner: "METIS 5.1.0" or "contiguous"

  int parts() const { return static_cast<int>(first.size()) - 1; }
};

/// True if this build has METIS.
bool has_metis();

/// Contiguous ranges with the most equal work possible. work[i] >= 0 of node i, in any unit.
Parts contiguous_parts(int parts, std::span<const double> work);

/// Partition with about equal work and few external neighbours: METIS, k-way, minimising communication volume (G.
/// Karypis and V. Kumar, SIAM J. Sci. Comput. 20, 359 (1998)), deterministic for a given graph. Falls back to
/// contiguous_parts() without METIS (with a warning), for fewer than four nodes per part, and if METIS leaves a part
/// empty.
Parts divided(const Neighbours& graph, int parts, std::span<const double> work, Log& log);

/// Work of the largest part over the mean.
double imbalance(const Parts& parts, std::span<const double> work);

/// Number of nodes of other parts needed by part p, summed over all parts: rows sent between ranks in a product.
std::int64_t needed_rows(const Neighbours& graph, const Parts& parts);

}  // namespace cambium::sparse
