#pragma once
#include <span>

#include "core/sparse/csr.hpp"
#include "plugins/graph/graphs/numbering.hpp"

namespace cambium::graph {

/// Rows of the weights of a graph, and counts of repeated edges.
struct Adjacency {
  sparse::Csr<double> weights;
  std::int64_t repeated = 0;  ///< repeated edges in the same direction
  std::int64_t mutual = 0;    ///< entries of edges that were given in both directions: two for each such edge
};

/// Conversion of edges to rows: `rows` rows from node `first` on, `columns` nodes.
struct AdjacencyShape {
  std::int64_t rows = 0, columns = 0, first = 0;
  bool weighted = true;  ///< false: every weight is 1, regardless of repetitions and direction
};

/// `given`: the entry (v, u) of every edge from u to v; `turned`: its entry (u, v) in an undirected graph, except
/// loops. Rows count from `shape.first`. Weights of edges repeated in one direction are summed; an edge given in both
/// directions counts once. InputError naming `source` if its two weights differ.
Adjacency adjacency_of(const AdjacencyShape& shape, std::span<const sparse::Entry> given,
                       std::span<const sparse::Entry> turned, const std::string& source, const Numbering& numbering);

}  // namespace cambium::graph
