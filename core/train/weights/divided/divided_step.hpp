#pragma once
#include "core/train/optimizers/bounded_gradient.hpp"
#include "core/train/weights/divided/parts.hpp"
#include "core/train/weights/weights.hpp"

namespace cambium::train {

/// Optimizer step on sharded parts: each rank updates the part whose states it stores, and sends it to the ranks that
/// store copies. With coded updates the copies on all ranks change by the same messages.
class DividedStep {
 public:
  /// Both must outlive this.
  DividedStep(DividedParts& parts, Optimizer& optimizer) : parts_(parts), optimizer_(optimizer) {}

  /// Collective. Starts the optimizer with these initial weights: it may truncate them (split weights) and fills its
  /// states.
  void start(const FlatBuffer& whole);
  /// The same for one group, whose weights begin at `whole` in the network's precision.
  void start(const DividedGroup& g, const std::byte* whole);
  /// Collective, as Weights::update().
  double step(const StepNumbers& numbers);
  /// Collective, as Weights::squared_gradients().
  std::vector<double> squared_gradients();
  /// Values on grids that the last step changed, in this rank's part.
  std::int64_t changed() const { return changed_; }

 private:
  template <class T>
  double norm_of(BoundedGradient& bounded);
  template <class T>
  Block bounded_gradient(const DividedGroup& g, const BoundedGradient& bounded);
  FlatBuffer exact_weights(const DividedGroup& g, Block& window);
  void update_average(const DividedGroup& g, const FlatBuffer& weights, std::int64_t step);
  void step_whole_tensors(const DividedGroup& g, FlatBuffer& weights, const FlatBuffer& gradients,
                          std::span<FlatBuffer> states, const StepNumbers& numbers);
  void step_group(const DividedGroup& g, const FlatBuffer& gradients, const StepNumbers& numbers);
  void hand_out(const DividedGroup& g);
  void hand_out_in_few_bits(const DividedGroup& g);

  DividedParts& parts_;
  Optimizer& optimizer_;
  std::int64_t changed_ = 0;
};

}  // namespace cambium::train
