#pragma once
#include <string>

#include "core/parallel/comm.hpp"
#include "plugins/graph/graphs/graph.hpp"

namespace cambium::graph {

/// Collective. A graph of an HDF5 file of which every rank reads and holds its part (Graph::held): ranks read pieces of
/// the edges in turn and send them to the ranks of their ends, so that none sees all of them; features and roles of
/// others are not read. Whole on every rank stay the classes (4 bytes of each node). InputError as read_graph(). On one
/// rank the graph is whole.
GraphPtr read_divided_graph(const std::string& path, const Comm& comm, std::int64_t split = 0);

/// This rank's part of a graph that is whole on every rank.
GraphPtr held_part(const Graph& whole, const Comm& comm);

}  // namespace cambium::graph
