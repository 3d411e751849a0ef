#pragma once
#include <cstdint>
#include <optional>

#include "core/deck/choice.hpp"
#include "core/plugin/registry.hpp"
#include "core/train/optimizers/optimizer.hpp"
#include "core/train/run/mllog.hpp"
#include "core/train/step/learning_rate.hpp"

namespace cambium::train {

/// What the benchmarks of the division `closed` want to know of a training, as a deck says it.
struct TrainingKeys {
  deck::Choice<Optimizer> optimizer;
  deck::Choice<LearningRate> rate;
  std::optional<WarmUp> warm_up;
  deck::Node network;       ///< its keys, of which dropout is logged where there is one
  double start_rate = 0.0;  ///< of the schedule, behind the warm-up
  int accumulate = 1;
  std::int64_t steps = 0, steps_per_epoch = 1;
};

/// Logs them under the names of cosmoflow (epochs), oc20 (steps) and deepcam (scheduler_...), all in every log: which
/// of them count follows from submission_benchmark. Optimizers are called as the rules call them (adam is Adam). Keys
/// of decays at given steps are there for rates `constant` and `step` alone, since others have none: a closed
/// submission of cosmoflow or oc20 needs one of these. `registry` knows what keys stand for where they are absent.
void log_training_keys(const TrainingKeys& keys, MlLog& log, const Registry& registry);

}  // namespace cambium::train
