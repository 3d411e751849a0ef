#pragma once
#include <memory>
#include <vector>

#include "core/train/weights/weights.hpp"

namespace cambium::train {

/// What training by data parallelism holds beside the weights: their layout, gradients with the sum over ranks, states.
struct DataParallel {
  /// Collective.
  DataParallel(const ReduceParams& reduce, const Comm& comm, const Network& network, const Optimizer& optimizer);

  Mesh mesh;
  FlatLayout layout;
  std::unique_ptr<Reducer> reducer;
  FlatBuffer gradients;
  std::vector<TensorRef> views;  ///< of the gradients
  std::vector<FlatBuffer> states;

  /// Views of the states, as an optimizer and a snapshot take them.
  std::vector<FlatBuffer> state_views() const;
};

}  // namespace cambium::train
