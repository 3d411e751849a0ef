#pragma once
#include <string>

#include "plugins/graph/graphs/edge_text.hpp"
#include "plugins/graph/graphs/graph.hpp"

namespace cambium::graph {

/// Reads a graph from HDF5 or, by its name, from a `.npz` (the formats stand in plugins/graph/method.md), with the
/// roles of one of its splits. InputError naming file and array for what is missing, does not fit or is out of range.
GraphPtr read_graph(const std::string& path, std::int64_t split = 0);

/// A graph in text.
struct EdgeListSource {
  std::string edges;       ///< text of edges (read_edge_text())
  std::string labels;      ///< text of lines "node class" or "node class training|validation|test"; may be ""
  std::int64_t nodes = 0;  ///< how many, numbered from 0; 0: those that are named
  bool directed = false;
  EdgeTextKeys keys;
};

/// Reads it. Nodes are those that a line of the edges names, in the order of their numbers; between these, also those
/// that have a class. Nodes have no features: each is told from the others by a number of its own. InputError
/// "file:line: ..." for a node that is not there, a weight that is negative or no number, a line that is cut short.
GraphPtr read_edge_list(const EdgeListSource& from);

}  // namespace cambium::graph
