#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/log.hpp"
#include "core/sparse/csr.hpp"
#include "plugins/graph/tiles/parts.hpp"

namespace cambium::graph {

/// Work of a node in a step that does not depend on its neighbours, in entries of a row: vectors that are read and
/// written, beside a product of a row that reads a column and a value for each.
constexpr std::int64_t work_of_a_node = 8;

/// First node of each rank's share, and the number of all nodes: runs of nodes of as equal work as runs can have, since
/// a few nodes of a network have most of its edges. None is empty where there are as many nodes as ranks.
std::vector<std::int64_t> first_nodes(const sparse::Csr<double>& pattern, int ranks);

/// How the nodes of a simulation are divided among ranks.
enum class Partition {
  automatic,  ///< parts by cut where ranks then receive at least a tenth fewer rows than with ranges
  ranges,     ///< runs of nodes in the order of the run, which is one of small bandwidth
  cut         ///< parts of equal work that need few nodes of each other (METIS)
};

/// Which rank has which nodes.
struct Ownership {
  sparse::Parts parts;              ///< rank r has parts.order[parts.first[r]] to parts.order[parts.first[r + 1] - 1]
  bool ranges = true;               ///< parts are runs of nodes
  std::int64_t halo = 0;            ///< rows that all ranks together receive in an exchange
  std::int64_t halo_of_ranges = 0;  ///< the same with runs of nodes
  double imbalance = 1.0;           ///< work of the busiest rank over the mean

  /// For the log: "parts by METIS 5.1.0, work 1.04 of the mean at most".
  std::string text() const;
};

/// The same on every rank that asks with the same pattern (symmetric, of the whole graph). InputError where there are
/// more ranks than nodes; a warning where `cut` is asked for and the build has no METIS.
Ownership ownership_of(const sparse::Csr<double>& pattern, int ranks, Partition partition, Log& log);

}  // namespace cambium::graph
