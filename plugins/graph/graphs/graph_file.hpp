#pragma once
#include <string>

#include "plugins/graph/graphs/edge_text.hpp"
#include "plugins/graph/graphs/graph.hpp"

namespace cambium::graph {

/// Reads a graph from HDF5 or, depending on its name, from a `.npz` file (formats: plugins/graph/method.md), with the
/// roles of one of its splits. InputError naming file and array for what is missing, does not match or is out of range.
GraphPtr read_graph(const std::string& path, std::int64_t split = 0);

/// A graph in text files.
struct EdgeListSource {
  std::string edges;       ///< text of edges (read_edge_text())
  std::string labels;      ///< text of lines "node class" or "node class training|validation|test"; may be ""
  std::int64_t nodes = 0;  ///< number of nodes, numbered from 0; 0: those that occur
  bool directed = false;
  EdgeTextKeys keys;
};

/// Reads it. Nodes are those in a line of the edges, ordered by their IDs, and nodes between these that have a class.
/// They have no features, so each gets a one-hot vector. InputError "file:line: ..." for a node that does not exist, a
/// weight that is negative or NaN, and a truncated line.
GraphPtr read_edge_list(const EdgeListSource& from);

}  // namespace cambium::graph
