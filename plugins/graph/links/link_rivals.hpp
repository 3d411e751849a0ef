#pragma once
#include <memory>

#include "plugins/graph/links/ranking.hpp"

namespace cambium::graph {

// What a trained network has to beat: scores that need no training. R is users x items, 1 for each link to train on,
// D_u and D_i its sums by rows and columns, N = D_u^-1/2 R D_i^-1/2. They keep a reference to the graph.

/// How many links an item has.
std::unique_ptr<LinkScores> most_popular(const LinkGraph& graph);
/// R D_i^-1/2 C, C the cosines of the columns of R: what resembles the items that a user has, rare ones above all
/// (after Sarwar et al. 2001).
std::unique_ptr<LinkScores> item_cosine(const LinkGraph& graph);
/// R N^T N.
std::unique_ptr<LinkScores> linear_filter(const LinkGraph& graph);
/// The same plus `share` times the ideal low pass R D_i^-1/2 V V^T D_i^1/2, V the `vectors` leading right singular
/// vectors of N: GF-CF (Shen et al., CIKM 2021; published with 0.3 and 256 for Gowalla).
std::unique_ptr<LinkScores> low_pass_filter(const LinkGraph& graph, double share, std::int64_t vectors);
/// Products of rows: users, then items; of a plain graph nodes (nodes() x width).
std::unique_ptr<LinkScores> products_of_rows(const LinkGraph& graph, std::vector<float> rows, std::int64_t width);

}  // namespace cambium::graph
