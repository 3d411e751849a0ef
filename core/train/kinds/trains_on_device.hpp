#pragma once
#include <cstdint>
#include <span>

#include "core/base/tensor_ref.hpp"
#include "core/train/kinds/dataset.hpp"

namespace cambium::train {

/// Samples of one slice for a gradient on the device: rows copied by bring_samples(), or samples on the host.
struct DeviceSlice {
  const std::int32_t* rows = nullptr;  ///< their indices, on the device; null if `samples` are given
  std::int64_t count = 0;
  std::span<const SamplePtr> samples = {};
};

/// Interface of a network that can compute its gradient by device kernels, with weights and gradients in device memory
/// (core/train/weights).
class TrainsOnDevice {
 public:
  virtual ~TrainsOnDevice() = default;
  /// True if training with slices of this many samples should run on the device, given the network's keys and sizes.
  /// Called once, when these are known; after false, nothing of this network runs on the device.
  virtual bool belongs_on_device(std::int64_t samples) = 0;
  /// Copies all samples to the device, rows in the order of the data set; false, without copying, if they exceed
  /// `most_bytes`.
  virtual bool bring_samples(Dataset& data, double most_bytes) = 0;
  /// Like Network::gradient(), with `weights` and `gradients` on the device. The gradient is added, or overwritten if
  /// `add` is false. Asynchronous: `sums` and `counts`, on the device, receive the sum of each term over the slice and
  /// its divisor.
  virtual void gradient_on_device(const DeviceSlice& slice, std::span<const TensorRef> weights,
                                  std::span<const double> term_weights, std::span<const TensorRef> gradients, bool add,
                                  double* sums, std::span<double> counts) = 0;
};

}  // namespace cambium::train
