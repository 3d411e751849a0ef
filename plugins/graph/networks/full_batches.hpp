#pragma once
#include <memory>

#include "core/train/kinds/buffer.hpp"
#include "core/train/kinds/network.hpp"
#include "plugins/graph/graphs/graph.hpp"

namespace cambium::graph {

/// How a small network is trained beside the deck's.
struct FullBatchKeys {
  double learning_rate = 0.01, weight_decay = 5e-4;  ///< of Adam; constant
  std::int64_t steps = 200;                          ///< each over all training nodes
};

/// Weights with what says where each array lies in them.
struct OwnWeights {
  std::unique_ptr<train::FlatLayout> layout;
  train::FlatBuffer values;
};

/// Weights of a network on nodes that was trained on the whole graph on this rank alone: its communicator has one rank,
/// and its fit_statistics() is done. `context` is of that rank, `seed` draws weights and dropout.
OwnWeights trained_by_full_batches(train::Network& network, const GraphPtr& graph, const FullBatchKeys& keys,
                                   std::uint64_t seed, Context& context);

}  // namespace cambium::graph
