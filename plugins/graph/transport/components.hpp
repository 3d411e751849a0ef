#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "core/sparse/csr.hpp"

namespace cambium::graph {

/// Connected components of a graph.
struct Components {
  std::int64_t count = 1;             ///< components with two or more nodes
  std::vector<std::int32_t> of_node;  ///< component of each own node, -1: isolated; empty: the graph is connected
};

/// For the nodes of `own`; non-zero entries of `pattern`, symmetric, connect two nodes.
Components components_of(const sparse::Csr<double>& pattern, std::span<const std::int32_t> own);

}  // namespace cambium::graph
