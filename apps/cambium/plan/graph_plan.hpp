#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "apps/cambium/plan/machine.hpp"
#include "core/sparse/layout.hpp"
#include "core/train/kinds/graph_work.hpp"

namespace cambium::train {

/// One epoch of a graph network in one layout: products with the graph, and those with weights.
struct PlannedGraph {
  std::string name;  ///< of the layout, with its copies
  sparse::LayoutKeys keys;
  std::int64_t words = 0;    ///< values that the busiest rank receives
  std::int64_t entries = 0;  ///< of the graph, likewise
  double bytes = 0.0;        ///< likewise
  double computing = 0.0;    ///< s, the slowest rank's
  double exchanging = 0.0;   ///< s, of all messages
  double seconds = 0.0;      ///< together, messages of a product being hidden as long as it computes
};

/// Every layout that this many ranks can use, the fastest first. `first`: ranks + 1 ascending offsets, the rows of each
/// rank. Words are those that runs count (sparse::predicted_loads()). Time is a model: a product reads a row of the
/// dense matrix from memory for every entry, or computes at the reached peak, whichever takes longer; messages are
/// point-to-point, by the slowest link between ranks.
std::vector<PlannedGraph> plan_graph(const GraphWork& work, std::span<const std::int64_t> first,
                                     const Machine& machine);

/// Contiguous ranges of rows with approximately equal numbers of entries.
std::vector<std::int64_t> ranges_of_equal_entries(const sparse::Csr<double>& matrix, int ranks);

/// Lines of the report, and the same as figures.
std::vector<std::string> graph_page(const GraphWork& work, const std::vector<PlannedGraph>& all);
nlohmann::json graph_figures(const PlannedGraph& planned);

}  // namespace cambium::train
