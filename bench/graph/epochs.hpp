#pragma once
#include <memory>

#include "core/train/kinds/buffer.hpp"
#include "core/train/optimizers/adam.hpp"
#include "plugins/graph/datasets/chosen_nodes.hpp"
#include "plugins/graph/networks/gcn.hpp"

namespace cambium::graph {

/// A triangulated square of about `nodes` nodes, row by row, with 16 features and one of four classes per node, all of
/// them training nodes.
GraphPtr mesh_graph(std::int64_t nodes);

/// Epochs of the published graph convolutions without biases, and its optimizer, in float32, over the ranks of the
/// context (layout needed_rows): collective.
class Epochs {
 public:
  Epochs(const GraphPtr& graph, std::int64_t hidden, double dropout, Context& context);
  /// One epoch; the loss before its step.
  double epoch();
  /// Seconds of the fastest epoch within `seconds`: CPU time on one rank, wall time on several.
  double fastest(double seconds);
  std::vector<TensorRef> weights() { return weights_.views(); }

 private:
  const Comm& comm_;
  Gcn network_;
  ChosenNodes training_;
  train::Adam adam_;
  std::unique_ptr<train::FlatLayout> layout_;
  train::FlatBuffer weights_, gradients_;
  std::vector<train::FlatBuffer> states_;
  train::SamplePtr sample_;
  std::int64_t steps_ = 0;
};

}  // namespace cambium::graph
