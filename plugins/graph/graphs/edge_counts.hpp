#pragma once
#include "plugins/graph/graphs/edge_text.hpp"

namespace cambium::graph {

/// Cells of the first line of a text file if they may be counts or an edge.
struct FirstLine {
  std::vector<std::int64_t> numbers;  ///< one to three integers
  std::int32_t line = 0;
};

/// True if one of these numbers could be the number of edges of a text with `lines` lines (a quick check).
bool may_be_counts(const std::vector<std::int64_t>& numbers, std::int64_t lines);

/// InputError if the file is in METIS format (manual of METIS 5, "Graph file"): the first line counts nodes and edges,
/// line i after it lists the neighbours of node i, and each edge is listed at both of its ends. If all nodes have two
/// or three neighbours, such lines look like edges. `rest`: the other lines, read as edges.
void require_no_metis(const FirstLine& first, const EdgeText& rest);

/// True if the first line holds counts that agree with `rest`, the edges of the other lines: nodes and edges in either
/// order, rows, columns and entries, or one of them. If so, sets rows, columns and a note of `rest`. InputError if it
/// looks like counts that disagree with the other lines. `keys.counts`, if given, decides.
bool take_counts(const FirstLine& first, EdgeText& rest, const EdgeTextKeys& keys, bool bipartite);

}  // namespace cambium::graph
