#pragma once
#include <string>

#include "core/parallel/comm.hpp"
#include "plugins/graph/graphs/graph.hpp"

namespace cambium::graph {

/// Collective. Reads a graph from an HDF5 file, partitioned over the ranks (Graph::held): ranks take turns to read
/// chunks of the edges and send them to the ranks of their end nodes, so that no rank reads all of them; features and
/// roles of other ranks' nodes are not read. The classes are replicated (4 bytes per node). InputError as read_graph().
/// On one rank the graph is not partitioned.
GraphPtr read_divided_graph(const std::string& path, const Comm& comm, std::int64_t split = 0);

/// This rank's part of a graph that is replicated on every rank.
GraphPtr held_part(const Graph& whole, const Comm& comm);

}  // namespace cambium::graph
