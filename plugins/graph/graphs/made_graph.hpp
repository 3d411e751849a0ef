#pragma once
#include "core/deck/describe.hpp"
#include "plugins/graph/graphs/graph.hpp"

namespace cambium::graph {

/// A synthetic graph with known classes (stochastic block model, Holland, Laskey and Leinhardt 1983): nodes of the same
/// class are connected more often than others, and some of the words of a node are typical of its class.
struct MadeGraph {
  std::int64_t nodes = 1000, classes = 4, width = 64;
  double degree = 6.0, inside = 0.8, signal = 0.25;
  std::int64_t words = 8, training = 20;
  double validation = 0.2;
  std::int64_t seed = 1;
  static void describe(deck::Describe<MadeGraph>& d);
};

/// Depends on the keys only. Edges have weight 1 and occur once; features are 0 or 1.
GraphPtr make_graph(const MadeGraph& keys);

}  // namespace cambium::graph
