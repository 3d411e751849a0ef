#pragma once
#include <span>
#include <vector>

#include "core/base/tensor_ref.hpp"
#include "core/train/kinds/network.hpp"

namespace cambium::superres {

/// Layers from planes to planes, (samples, channels, x, z), in T, float or double. One object per step.
template <class T>
class PlaneLayers {
 public:
  virtual ~PlaneLayers() = default;
  /// Outputs for all samples, stored with all values that backward() needs.
  virtual const std::vector<T>& forward(std::vector<T> inputs, int samples, const train::ReadyCallback& ready) = 0;
  /// Adds the gradient of a loss, given its derivative with respect to the outputs.
  virtual void backward(std::vector<T> by_output, std::span<const TensorRef> gradients,
                        const train::ReadyCallback& ready) = 0;
};

}  // namespace cambium::superres
