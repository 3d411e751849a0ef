#pragma once
#include "core/deck/describe.hpp"
#include "plugins/graph/links/link_graph.hpp"

namespace cambium::graph {

/// Made-up users and items in blocks (stochastic block model): a user's links lead to items of the own block more often
/// than to others, and to some items of a block more often than to its others.
struct MadeLinks {
  std::int64_t users = 400, items = 300, blocks = 6;
  double links = 15.0, inside = 0.8, unequal = 1.0;
  std::int64_t seed = 1;
  static void describe(deck::Describe<MadeLinks>& d);
};

/// A function of the keys alone; no link occurs twice.
std::vector<Link> draw_links(const MadeLinks& keys);

}  // namespace cambium::graph
