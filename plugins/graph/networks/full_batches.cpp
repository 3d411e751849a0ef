#include "plugins/graph/networks/full_batches.hpp"

#include "core/train/optimizers/adam.hpp"
#include "plugins/graph/datasets/chosen_nodes.hpp"

namespace cambium::graph {

OwnWeights trained_by_full_batches(train::Network& network, const GraphPtr& graph, const FullBatchKeys& keys,
                                   std::uint64_t seed, Context& context) {
  const auto nodes = std::make_shared<const std::vector<std::int32_t>>(nodes_with(*graph, Role::training));
  OwnWeights out{std::make_unique<train::FlatLayout>(network.parameters(), std::int64_t{1} << 40), {}};
  const auto& layout = *out.layout;
  out.values = train::FlatBuffer(layout, network.dtype());
  auto& weights = out.values;
  train::FlatBuffer gradients(layout, network.dtype());
  network.initialise(weights.views(), seed);
  train::Adam::Params adam;
  adam.weight_decay = keys.weight_decay;
  train::Adam optimizer(adam, context);
  auto states = train::make_states(optimizer, layout, network.dtype());
  auto whole = std::make_shared<train::Sample>();
  whole->storage = make_storage(WholeGraph{graph, nodes, 0, graph->nodes()});
  const train::SamplePtr sample = whole;
  for (std::int64_t step = 1; step <= keys.steps; ++step) {
    gradients.zero();
    network.begin_step(seed, step - 1);
    train::TermSum loss;
    const double one = 1.0;
    network.gradient({&sample, 1}, weights.views(), {&one, 1}, gradients.views(), {&loss, 1}, {});
    train::scale(gradients, 1.0 / static_cast<double>(nodes->size()));
    optimizer.step({weights, gradients, states, keys.learning_rate, step});
  }
  return out;
}

}  // namespace cambium::graph
