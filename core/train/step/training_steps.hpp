#pragma once
#include "core/train/kinds/loader.hpp"
#include "core/train/step/progress.hpp"
#include "core/train/step/training_step.hpp"

namespace cambium::train {

/// Steps of a training and their losses. On a device the losses of some steps are looked at together, in their order.
class TrainingSteps {
 public:
  /// `explode`: how many times its first values a loss may reach. All outlive this.
  TrainingSteps(TrainingStep& step, Progress& progress, double explode, Context& context)
      : step_(step), progress_(progress), explode_(explode), context_(context) {}

  /// All samples to the device, if the weights lie there, each of them is used, and the loader says in which order.
  void bring_samples(Dataset& data, Loader& loader, bool all_used);
  /// Collective. The next step; NumericalError as take_losses().
  void advance(Loader& loader, const BatchPlan& plan);
  /// Collective, before somebody looks at the progress: adds the losses of all steps that were made to the window of
  /// the log. NumericalError when a term is no number or the loss has run away.
  void take_losses();

 private:
  void advance_resident(Loader& loader, const BatchPlan& plan);
  void finish_step(std::int64_t samples);
  void take(std::int64_t step, const Loss& loss);
  void watch(std::int64_t before, const Loss& loss);

  TrainingStep& step_;
  Progress& progress_;
  double explode_;
  Context& context_;
};

}  // namespace cambium::train
