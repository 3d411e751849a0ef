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

/// What one rank computes of a global batch.
struct Share {
  std::vector<std::span<const SamplePtr>> slices;  ///< may be empty; as many on every rank
  std::vector<std::int64_t> numbers;               ///< of these slices among those of all ranks
};

/// One step of training: a network's gradient, its sum over ranks, bounds, the optimizer at the rate of the step, and
/// the average. It keeps no number of steps: `step` counts from 0, and is the same on every rank.
class TrainingStep {
 public:
  /// Makes network, optimizer and rate. `seed`: of first weights and of rounding. Keys and context outlive this.
  /// InputError as require_ranks().
  TrainingStep(const StepKeys& keys, std::uint64_t seed, Context& context);

  Network& network() const { return *network_; }
  const Optimizer& optimizer() const { return *optimizer_; }
  /// For a schedule over `total` steps, warm-up included; and the first one without it.
  double rate(std::int64_t step, std::int64_t total) const;

  double start_rate() const { return rate_->at(0, total_); }

  /// Collective, once, when the network knows its sizes: makes the weights. `total`: steps of the schedule. With
  /// `slice`, the samples of a slice, they lie on a device where network and keys allow it; which is said.
  void prepare(std::int64_t total, std::int64_t slice = 0);
  bool prepared() const { return weights_ != nullptr; }
  double rate(std::int64_t step) const { return rate(step, total_); }
  /// Of the loss at this step.
  std::vector<double> term_weights(std::int64_t step) const;
  Weights& weights() { return *weights_; }
  const Weights& weights() const { return *weights_; }
  /// Where gradients are computed when the weights lie on a device: start_gradient() takes the place of gradient().
  /// Null where they do not.
  DeviceSteps* device() { return device_.get(); }
  /// Rows that the network learns beside its weights; null for networks without tables.
  Tables* tables() { return tables_.get(); }
  /// The network's own first weights.
  void start();

  /// Collective. Leaves the sum of the gradients of all slices in the weights. With `problem` an InputError of this
  /// rank's network ends there as text, after the exchange that others wait for; without, it is thrown at once.
  Loss gradient(const Share& share, std::int64_t step, std::string* problem = nullptr);
  /// Collective. The same on the device, which keeps the loss until device()->losses().
  void start_gradient(const DeviceShare& share, std::int64_t step);
  /// Collective. Steps with that gradient, of so many samples on all ranks.
  void update(std::int64_t samples, std::int64_t step);

  /// After a validation behind `step` steps: the schedule may follow its measure. True when the learning rate changed.
  bool judge(std::int64_t step, double measure);
  /// The schedule depends on judge().
  bool needs_validations() const { return rate_->needs_validations(); }
  /// What optimizer and schedule keep beside the states; take() restores it.
  KeptNumbers kept() const;
  void take(const KeptNumbers& kept);

  /// For network, optimizer and rate.
  std::vector<Citation> citations() const;
  /// For checkpoints; `batch` as CheckpointKey has it.
  CheckpointKey key(std::int64_t batch) const;
  /// What a model file says of the network: type, keys, state.
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
