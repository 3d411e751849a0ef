#pragma once
#include <string>

#include "plugins/graph/graphs/graph.hpp"

namespace cambium::graph {

/// Reads a graph from HDF5 (the format stands in plugins/graph/README.md). InputError naming file and array for what is
/// missing, does not fit or is out of range.
GraphPtr read_graph(const std::string& path);

/// Reads lines "u v" or "u v weight" of nodes numbered from 0, blanks between, '#' before a remark; and, where a file
/// is given, lines "node class" or "node class training|validation|test". The graph has `nodes` nodes; with 0, as many
/// as the largest number says. Nodes have no features: each is told from the others by a number of its own. InputError
/// "file:line: ..." for a node that is not there, a weight that is negative or no number, a line that is cut short.
GraphPtr read_edge_list(const std::string& edges, const std::string& labels, std::int64_t nodes, bool directed);

}  // namespace cambium::graph
