#pragma once
#include <span>

#include "core/sparse/csr.hpp"
#include "plugins/graph/graphs/numbering.hpp"

namespace cambium::graph {

/// Rows of the weights of a graph, and what was found on the way.
struct Adjacency {
  sparse::Csr<double> weights;
  std::int64_t repeated = 0;  ///< edges that were given before in the same direction
  std::int64_t mutual = 0;    ///< entries whose edge was given in both directions, too: each such edge has two
};

/// How edges become rows: `rows` rows from node `first` on, `columns` nodes.
struct AdjacencyShape {
  std::int64_t rows = 0, columns = 0, first = 0;
  bool weighted = true;  ///< false: every weight is 1, however often and in whichever direction an edge is given
};

/// `given`: the entry (v, u) of every edge from u to v; `turned`: the entry (u, v) of it where the graph has no
/// directions, loops left out. Rows count from `shape.first`. Weights of edges that are given several times in one
/// direction are added up; an edge that is given in both directions counts once. InputError naming `source` where its
/// two weights differ.
Adjacency adjacency_of(const AdjacencyShape& shape, std::span<const sparse::Entry> given,
                       std::span<const sparse::Entry> turned, const std::string& source, const Numbering& numbering);

}  // namespace cambium::graph
