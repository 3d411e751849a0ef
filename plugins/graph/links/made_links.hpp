#pragma once
#include "core/deck/describe.hpp"
#include "plugins/graph/links/link_graph.hpp"

namespace cambium::graph {

/// Synthetic users and items in blocks (stochastic block model): users link more often to items of their own block than
/// to others, and more often to some items of a block than to its others.
struct MadeLinks {
  std::int64_t users = 400, items = 300, blocks = 6;
  double links = 15.0, inside = 0.8, unequal = 1.0;
  std::int64_t seed = 1;
  static void describe(deck::Describe<MadeLinks>& d);
};

/// Depends on the keys only; no link occurs twice.
std::vector<Link> draw_links(const MadeLinks& keys);

}  // namespace cambium::graph
