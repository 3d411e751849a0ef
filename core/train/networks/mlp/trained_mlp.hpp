#pragma once
#include "core/train/kinds/trains_on_device.hpp"
#include "core/train/networks/mlp/mlp.hpp"

namespace cambium::train {

/// The network `mlp` of decks: an Mlp whose training can lie on the device as a whole.
class TrainedMlp : public Mlp, public TrainsOnDevice {
 public:
  using Mlp::Mlp;
  /// With `compute: auto` where the build has a device and a slice of training takes so many operations; else what the
  /// key says.
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
  /// Operations of a slice (6 for each weight and sample) from which `auto` takes a device: below, one core of a host
  /// is done before the kernels of a step have started.
  static constexpr double enough_operations = 4e6;
};

}  // namespace cambium::train
