#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "core/sparse/csr.hpp"

namespace cambium::graph {

/// Parts of a graph between which nothing flows.
struct Components {
  std::int64_t count = 1;             ///< of parts with two or more nodes
  std::vector<std::int32_t> of_node;  ///< part of each own node, -1: it has no neighbour; empty: the graph is one part
};

/// For the nodes of `own`; entries of `pattern`, symmetric, that are not 0 join two nodes.
Components components_of(const sparse::Csr<double>& pattern, std::span<const std::int32_t> own);

}  // namespace cambium::graph
