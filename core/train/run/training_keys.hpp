#pragma once
#include <cstdint>
#include <optional>

#include "core/deck/choice.hpp"
#include "core/plugin/registry.hpp"
#include "core/train/optimizers/optimizer.hpp"
#include "core/train/run/mllog.hpp"
#include "core/train/step/learning_rate.hpp"

namespace cambium::train {

/// Settings of a training that the closed division of the benchmarks requires in the log.
struct TrainingKeys {
  deck::Choice<Optimizer> optimizer;
  deck::Choice<LearningRate> rate;
  std::optional<WarmUp> warm_up;
  deck::Node network;       ///< its keys; dropout is logged if it has one
  double start_rate = 0.0;  ///< of the schedule, after the warm-up
  int accumulate = 1;
  std::int64_t steps = 0, steps_per_epoch = 1;
};

/// Logs them with the names of cosmoflow (epochs), oc20 (steps) and deepcam (scheduler_...), all in every log:
/// submission_benchmark determines which apply. Optimizers have the names of the rules (adam is Adam). Keys of decay
/// steps exist only for the rates `constant` and `step`: a closed submission of cosmoflow or oc20 needs one of these.
/// `registry` provides the defaults of absent keys.
void log_training_keys(const TrainingKeys& keys, MlLog& log, const Registry& registry);

}  // namespace cambium::train
