#pragma once
#include "core/train/kinds/trains_on_device.hpp"
#include "core/train/networks/mlp/mlp.hpp"

namespace cambium::train {

/// The network `mlp` of decks: an Mlp that can be trained entirely on the device.
class TrainedMlp : public Mlp, public TrainsOnDevice {
 public:
  using Mlp::Mlp;
  /// On the device with `compute: auto` if the build has one and a training slice takes enough operations; else as set
  /// by the key.
  NetworkTraits traits() override {
    NetworkTraits out = Mlp::traits();
    out.device = this;
    return out;
  }
  bool belongs_on_device(std::int64_t samples) override;
  bool bring_samples(Dataset& data, double most_bytes) override;
  void gradient_on_device(const DeviceSlice& slice, std::span<const TensorRef> weights,
                          std::span<const double> term_weights, std::span<const TensorRef> gradients, bool add,
                          double* sums, std::span<double> counts) override;
  /// Operations per slice (6 for each weight and sample) from which `auto` uses the device: below, one host core
  /// finishes before the kernels of a step have been launched.
  static constexpr double enough_operations = 4e6;
};

}  // namespace cambium::train
