#pragma once
#include <memory>
#include <vector>

#include "core/train/weights/weights.hpp"

namespace cambium::train {

/// Data of data-parallel training in addition to the weights: their layout, gradients with their reducer, states.
struct DataParallel {
  /// Collective.
  DataParallel(const ReduceParams& reduce, const Comm& comm, const Network& network, const Optimizer& optimizer);

  Mesh mesh;
  FlatLayout layout;
  std::unique_ptr<Reducer> reducer;
  FlatBuffer gradients;
  std::vector<TensorRef> views;  ///< of the gradients
  std::vector<FlatBuffer> states;

  /// Views of the states, for an optimizer or a snapshot.
  std::vector<FlatBuffer> state_views() const;
};

}  // namespace cambium::train
