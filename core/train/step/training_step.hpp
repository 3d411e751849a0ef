#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/train/kinds/keeps_numbers.hpp"
#include "core/train/kinds/term_sums.hpp"
#include "core/train/step/checkpoint_key.hpp"
#include "core/train/step/step_keys.hpp"
#include "core/train/tables/tables.hpp"
#include "core/train/weights/artifact.hpp"
#include "core/train/weights/device_steps.hpp"
#include "core/train/weights/weights.hpp"

namespace cambium::train {

/// Local part of a global batch.
struct Share {
  std::vector<std::span<const SamplePtr>> slices;  ///< may be empty; the same number on every rank
  std::vector<std::int64_t> numbers;               ///< indices of these slices among those of all ranks
};

/// One training step: a network's gradient, its sum over ranks, clipping, the optimizer at the rate of the step, and
/// the moving average. It does not count steps: `step` counts from 0, and is the same on every rank.
class TrainingStep {
 public:
  /// Creates network, optimizer and schedule. `seed`: for initial weights and rounding. Keys and context must outlive
  /// this. InputError as require_ranks().
  TrainingStep(const StepKeys& keys, std::uint64_t seed, Context& context);

  Network& network() const { return *network_; }
  const Optimizer& optimizer() const { return *optimizer_; }
  /// Rate of a schedule over `total` steps, including warm-up; and the initial one without it.
  double rate(std::int64_t step, std::int64_t total) const;

  double start_rate() const { return rate_->at(0, total_); }

  /// Collective, once, when the network knows its sizes: creates the weights. `total`: steps of the schedule. With
  /// `slice`, the samples of a slice, they are on a device if network and keys allow it, which is logged.
  void prepare(std::int64_t total, std::int64_t slice = 0);
  bool prepared() const { return weights_ != nullptr; }
  double rate(std::int64_t step) const { return rate(step, total_); }
  /// Term weights of the loss at this step.
  std::vector<double> term_weights(std::int64_t step) const;
  Weights& weights() { return *weights_; }
  const Weights& weights() const { return *weights_; }
  /// Computes gradients if the weights are on a device: start_gradient() then replaces gradient(). Null otherwise.
  DeviceSteps* device() { return device_.get(); }
  /// Embedding tables that the network learns in addition to its weights; null for networks without tables.
  Tables* tables() { return tables_.get(); }
  /// Starts with the network's own initial weights.
  void start();

  /// Collective. Leaves the sum of the gradients of all slices in the weights. An InputError of this rank's network is
  /// stored as text in `problem`, after the exchange that other ranks wait for; without `problem` it is thrown at once.
  Loss gradient(const Share& share, std::int64_t step, std::string* problem = nullptr);
  /// Collective. The same on the device, which stores the loss until device()->losses().
  void start_gradient(const DeviceShare& share, std::int64_t step);
  /// Collective. Updates the weights by that gradient, of `samples` on all ranks.
  void update(std::int64_t samples, std::int64_t step);

  /// After a validation at `step` completed steps: the schedule may use its measure. True if the learning rate changed.
  bool judge(std::int64_t step, double measure);
  /// True if the schedule depends on judge().
  bool needs_validations() const { return rate_->needs_validations(); }
  bool rate_needs_total() const { return rate_->needs_total(); }
  /// State of optimizer and schedule in addition to the states; take() restores it.
  KeptNumbers kept() const;
  void take(const KeptNumbers& kept);

  /// Publications of network, optimizer and schedule.
  std::vector<Citation> citations() const;
  /// For checkpoints; `batch` as in CheckpointKey.
  CheckpointKey key(std::int64_t batch) const;
  /// Network section of a model file: type, keys, state.
  ArtifactInfo model_info() const;

 private:
  void fetch(const Share& share, std::int64_t step);
  void add_slice(const Share& share, std::size_t slice, std::span<const double> term_weights, std::span<TermSum> terms,
                 std::string* problem);

  Context& context_;
  const StepKeys& keys_;
  std::uint64_t seed_;
  std::int64_t total_ = 0;
  std::unique_ptr<Network> network_;
  std::unique_ptr<Optimizer> optimizer_;
  std::unique_ptr<LearningRate> rate_;
  std::unique_ptr<Weights> weights_;
  std::unique_ptr<DeviceSteps> device_;
  std::unique_ptr<Tables> tables_;
  std::size_t terms_ = 0;
};

}  // namespace cambium::train
