#pragma once
#include <memory>

#include "plugins/graph/links/ranking.hpp"

namespace cambium::graph {

// Baselines for a trained network: scores that need no training. R is users x items, 1 for each training link, D_u and
// D_i its row and column sums, N = D_u^-1/2 R D_i^-1/2. They keep a reference to the graph.

/// Number of links of an item.
std::unique_ptr<LinkScores> most_popular(const LinkGraph& graph);
/// R C, C the cosines of the columns of R: items similar to those of the user (sparse::ColumnCosines).
std::unique_ptr<LinkScores> item_cosine(const LinkGraph& graph);
/// R N^T N.
std::unique_ptr<LinkScores> linear_filter(const LinkGraph& graph);
/// R D_i^-a R^T D_u^-b R D_i^-(1-a): linear_filter() with other exponents, a for items and b for users (Aiolli, RecSys
/// 2013, with a = 1/2, b = 1).
std::unique_ptr<LinkScores> scaled_filter(const LinkGraph& graph, double item_power, double user_power);

/// Exponents chosen by Recall@k on the validation links of 1000 users, evenly spaced; where there are none, on a tenth
/// of their training links, which are hidden from the scores.
struct FilterPowers {
  double item = 0.5, user = 1.0, recall = 0.0;
  std::int64_t users = 0;  ///< number of users evaluated; 0: no user has such links, and nothing was chosen
};
/// Grid: a of 0.3, 0.5, 0.7, 0.9, b of 0, 0.5, 1. Collective.
FilterPowers tuned_powers(const LinkGraph& graph, std::int64_t k, const Comm& comm);

/// For a plain graph, by the common neighbours of two nodes: their number (Newman 2001), the sum of 1 / log(degree)
/// (Adamic and Adar 2003), or of 1 / degree (resource allocation: Zhou, Lu and Zhang 2009).
enum class SharedNeighbours { number, adamic_adar, resource_allocation };
std::unique_ptr<LinkScores> shared_neighbours(const LinkGraph& graph, SharedNeighbours weight);

/// linear_filter() plus `share` times the ideal low-pass filter R D_i^-1/2 V V^T D_i^1/2, V the `vectors` leading right
/// singular vectors of N: GF-CF (Shen et al., CIKM 2021; published with 0.3 and 256 for Gowalla).
std::unique_ptr<LinkScores> low_pass_filter(const LinkGraph& graph, double share, std::int64_t vectors);
/// Dot products of rows: users, then items; for a plain graph, nodes (nodes() x width).
std::unique_ptr<LinkScores> products_of_rows(const LinkGraph& graph, std::vector<float> rows, std::int64_t width);

}  // namespace cambium::graph
