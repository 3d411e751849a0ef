#pragma once
#include "plugins/graph/graphs/edge_text.hpp"

namespace cambium::graph {

/// The cells of the first line of a text, where they may be counts or an edge.
struct FirstLine {
  std::vector<std::int64_t> numbers;  ///< one to three whole ones
  std::int32_t line = 0;
};

/// True if one of these numbers may be the number of edges of so many lines, at a glance.
bool may_be_counts(const std::vector<std::int64_t>& numbers, std::int64_t lines);

/// InputError where the text is one of METIS (manual of METIS 5, "Graph file"): the first line counts nodes and edges,
/// line i behind it names the neighbours of node i, each edge stands at both of its ends. Where all nodes have two or
/// three neighbours such lines look like edges. `rest`: the other lines, read as edges.
void require_no_metis(const FirstLine& first, const EdgeText& rest);

/// True if the first line holds counts of what `rest`, the edges of the other lines, has: nodes and edges in either
/// order, rows, columns and entries, or one of them. Sets rows, columns and a note of `rest` if so. InputError where it
/// looks like counts, but the other lines have others. `keys.counts` decides where it is given.
bool take_counts(const FirstLine& first, EdgeText& rest, const EdgeTextKeys& keys, bool bipartite);

}  // namespace cambium::graph
