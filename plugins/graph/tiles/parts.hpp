#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/log.hpp"
#include "plugins/graph/tiles/neighbours.hpp"

namespace cambium::sparse {

/// The nodes of a graph in parts: part p holds the nodes order[first[p]] to order[first[p + 1] - 1], by their old
/// numbers, ascending within a part. `order` serves permuted().
struct Parts {
  std::vector<std::int32_t> order;
  std::vector<std::int64_t> first{0};  ///< parts + 1 places
  std::string method;                  ///< who divided: "METIS 5.1.0" or "contiguous"

  int parts() const { return static_cast<int>(first.size()) - 1; }
};

/// True when this build found METIS.
bool has_metis();

/// Contiguous ranges whose work is as equal as contiguous ranges allow. work[i] >= 0 of node i, in any unit.
Parts contiguous_parts(int parts, std::span<const double> work);

/// Parts of about equal work with few neighbours outside: METIS, k-way, by volume of what parts need of each other (G.
/// Karypis and V. Kumar, SIAM J. Sci. Comput. 20, 359 (1998)), the same for the same graph. Without METIS, where
/// there are not four nodes for each part, and where METIS leaves a part empty, contiguous_parts(); the first with a
/// warning.
Parts divided(const Neighbours& graph, int parts, std::span<const double> work, Log& log);

/// The largest part's work over the mean.
double imbalance(const Parts& parts, std::span<const double> work);

/// How many nodes of other parts part p needs, summed over all parts: rows that pass between ranks in a product.
std::int64_t needed_rows(const Neighbours& graph, const Parts& parts);

}  // namespace cambium::sparse
