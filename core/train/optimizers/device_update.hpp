#pragma once
#include <array>
#include <cstdint>
#include <optional>

#include "core/base/tensor_ref.hpp"

namespace cambium::train {

/// Inputs of one step on the device: one value per parameter and padding, weights and gradients of type `dtype` (f64 or
/// f32) in the same layout. Clipping and averaging are fused with the optimizer's rule in one pass over the weights.
struct DeviceUpdate {
  DType dtype = DType::f64;
  std::int64_t size = 0;
  void* weights = nullptr;
  const void* gradients = nullptr;       ///< summed over all samples
  std::array<void*, 2> states = {};      ///< as Optimizer::states()
  void* average = nullptr;               ///< null if none is kept
  const std::uint8_t* decays = nullptr;  ///< for each block of 16 elements: weight decay applies
  double factor = 1.0;                   ///< applied to the gradients
  std::optional<double> value, norm;     ///< bounds, as in Clip
  const double* square = nullptr;        ///< squared norm of the gradients times factor, within `value`
  std::optional<double> average_decay;   ///< none: the average is set to the weights
  double rate = 0.0;
  std::int64_t step = 1;  ///< counted from 1
};

/// Interface of an optimizer with a device implementation of the formulas of Optimizer::step().
class StepsOnDevice {
 public:
  virtual ~StepsOnDevice() = default;
  /// Launches the step asynchronously.
  virtual void step_on_device(const DeviceUpdate& update) const = 0;
};

/// Launches the computation of the squared norm that `update.norm` bounds; the result is written to `square`, on the
/// device.
void square_on_device(const DeviceUpdate& update, double* square);

}  // namespace cambium::train
