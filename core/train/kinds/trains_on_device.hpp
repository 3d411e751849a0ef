#pragma once
#include <cstdint>
#include <span>

#include "core/base/tensor_ref.hpp"
#include "core/train/kinds/dataset.hpp"

namespace cambium::train {

/// Samples of one slice for a gradient on the device: rows of what bring_samples() brought, or samples of the host.
struct DeviceSlice {
  const std::int32_t* rows = nullptr;  ///< their numbers, on the device; null where `samples` are given
  std::int64_t count = 0;
  std::span<const SamplePtr> samples = {};
};

/// Interface of a network that can compute its gradient by kernels where weights and gradients lie in the device's
/// memory (core/train/weights).
class TrainsOnDevice {
 public:
  virtual ~TrainsOnDevice() = default;
  /// True if a training with slices of so many samples is to be made on the device, by the network's keys and its
  /// sizes. Called once, when these are known: of a network that answers no, nothing is computed there from here on.
  virtual bool belongs_on_device(std::int64_t samples) = 0;
  /// Brings all samples there, rows in the order of the data set; false, and nothing, where they would take more bytes.
  virtual bool bring_samples(Dataset& data, double most_bytes) = 0;
  /// As Network::gradient(), with `weights` and `gradients` on the device. The gradient is added, or where not `add`
  /// written over what is there. Starts its work and does not wait for it: `sums`, on the device, get the sum of each
  /// term over the slice, and `counts` what each is divided by.
  virtual void gradient_on_device(const DeviceSlice& slice, std::span<const TensorRef> weights,
                                  std::span<const double> term_weights, std::span<const TensorRef> gradients, bool add,
                                  double* sums, std::span<double> counts) = 0;
};

}  // namespace cambium::train
