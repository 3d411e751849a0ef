#pragma once
#include <memory>

#include "core/train/kinds/buffer.hpp"
#include "core/train/kinds/network.hpp"
#include "plugins/graph/graphs/graph.hpp"

namespace cambium::graph {

/// Training of a small network in addition to those of the deck.
struct FullBatchKeys {
  double learning_rate = 0.01, weight_decay = 5e-4;  ///< of Adam; constant
  std::int64_t steps = 200;                          ///< each over all training nodes
};

/// Weights with the layout of their arrays.
struct OwnWeights {
  std::unique_ptr<train::FlatLayout> layout;
  train::FlatBuffer values;
};

/// Weights of a network on nodes after full-graph training on this rank only: its communicator has one rank, and
/// fit_statistics() must have been called. `context` is that of this rank; `seed` initialises weights and dropout.
OwnWeights trained_by_full_batches(train::Network& network, const GraphPtr& graph, const FullBatchKeys& keys,
                                   std::uint64_t seed, Context& context);

}  // namespace cambium::graph
