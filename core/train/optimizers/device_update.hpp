#pragma once
#include <array>
#include <cstdint>
#include <optional>

#include "core/base/tensor_ref.hpp"

namespace cambium::train {

/// One step's material on the device, one number per parameter and padding, weights and gradients of type `dtype` (f64
/// or f32) and of one layout. What surrounds an optimizer's own rule is done in the same pass over the weights.
struct DeviceUpdate {
  DType dtype = DType::f64;
  std::int64_t size = 0;
  void* weights = nullptr;
  const void* gradients = nullptr;       ///< the sum over all samples
  std::array<void*, 2> states = {};      ///< as Optimizer::states()
  void* average = nullptr;               ///< null where none is kept
  const std::uint8_t* decays = nullptr;  ///< of each 16 numbers, whether weight decay applies
  double factor = 1.0;                   ///< of the gradients
  std::optional<double> value, norm;     ///< bounds, as Clip has them
  const double* square = nullptr;        ///< squared norm of the gradients times factor, within `value`
  std::optional<double> average_decay;   ///< none: the average becomes the weights themselves
  double rate = 0.0;
  std::int64_t step = 1;  ///< counted from 1
};

/// Interface of an optimizer that has a form for the device, by the formulas of Optimizer::step().
class StepsOnDevice {
 public:
  virtual ~StepsOnDevice() = default;
  /// Starts the step and does not wait for it.
  virtual void step_on_device(const DeviceUpdate& update) const = 0;
};

/// Starts to write the squared norm that `update.norm` bounds to `square`, on the device.
void square_on_device(const DeviceUpdate& update, double* square);

}  // namespace cambium::train
