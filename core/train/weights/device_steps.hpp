#pragma once
#include <memory>
#include <vector>

#include "core/base/timing.hpp"
#include "core/parallel/comm.hpp"
#include "core/train/kinds/loader.hpp"
#include "core/train/kinds/term_sums.hpp"
#include "core/train/kinds/trains_on_device.hpp"
#include "core/train/weights/resident_rows.hpp"
#include "core/train/weights/weights.hpp"

namespace cambium::train {

/// Local part of a global batch on the device.
struct DeviceShare {
  std::vector<DeviceSlice> slices;    ///< may be empty; the same number on every rank and in every step
  std::vector<std::int64_t> numbers;  ///< indices of these slices among those of all ranks
};

/// Gradients of a training on the device: stores its samples, and the losses of past steps until they are requested.
class DeviceSteps {
 public:
  /// For a network that TrainsOnDevice, with weights on the device. All arguments must outlive this.
  DeviceSteps(Network& network, Weights& weights, const Comm& comm, Timing& timing);
  ~DeviceSteps();

  /// Copies all samples to the device if they take at most `most_bytes`.
  void bring_samples(Dataset& data, double most_bytes = 4e9);
  bool resident() const { return resident_; }
  /// This rank's slices of a batch of resident samples. The order of an epoch is copied once.
  std::vector<DeviceSlice> slices(const BatchNumbers& batch);

  /// Collective. Leaves the sum of the gradients of all slices in the weights. Asynchronous on one rank.
  void start(const DeviceShare& share, std::vector<double> term_weights, std::int64_t step);

  /// Loss of one step.
  struct StepLoss {
    std::int64_t step;
    Loss loss;
  };
  /// Collective. Losses of all steps since the last call, in order; waits for them.
  std::vector<StepLoss> losses();
  /// True if losses() must be called before the next step; limits the delay in detecting a diverged training.
  bool full() const { return std::ssize(past_) >= most_past; }
  static constexpr std::int64_t most_past = 128;

 private:
  struct Past {
    std::int64_t step;
    std::vector<double> term_weights;
    std::vector<std::int64_t> numbers;  ///< indices of the slices
    std::vector<double> counts;         ///< slices x terms
  };
  struct Sums;

  TrainsOnDevice& network_;
  Weights& weights_;
  const Comm& comm_;
  Timing& timing_;
  std::size_t terms_;
  bool resident_ = false;
  RowNumbers order_;
  std::int64_t epoch_ = -1;  ///< of order_
  std::vector<Past> past_;
  std::unique_ptr<Sums> sums_;  ///< most_past x slices x terms, on the device
};

}  // namespace cambium::train
