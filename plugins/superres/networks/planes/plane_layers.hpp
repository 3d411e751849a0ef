#pragma once
#include <span>
#include <vector>

#include "core/base/tensor_ref.hpp"
#include "core/train/kinds/network.hpp"

namespace cambium::superres {

/// Layers from planes to planes, (samples, channels, x, z), in T, float or double. An object belongs to one step.
template <class T>
class PlaneLayers {
 public:
  virtual ~PlaneLayers() = default;
  /// Outputs for all samples, kept with all that backward() needs.
  virtual const std::vector<T>& forward(std::vector<T> inputs, int samples, const train::ReadyCallback& ready) = 0;
  /// Adds the gradient of a loss whose derivative by the outputs is given.
  virtual void backward(std::vector<T> by_output, std::span<const TensorRef> gradients,
                        const train::ReadyCallback& ready) = 0;
};

}  // namespace cambium::superres
