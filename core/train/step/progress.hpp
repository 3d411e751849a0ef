#pragma once
#include <limits>
#include <string>
#include <vector>

#include "core/train/kinds/keeps_numbers.hpp"
#include "core/train/kinds/network.hpp"

namespace cambium::train {

/// What changes while a network is trained, beside its weights; with these all that a resumed run needs.
struct Progress {
  std::int64_t step = 0;        ///< optimizer steps done; also the position of the loader and of the schedules
  std::int64_t best_step = -1;  ///< of the validation with the least measure; -1 before the first
  double best_metric = std::numeric_limits<double>::infinity();
  std::vector<double> best_errors;       ///< of that validation, one per metric
  std::int64_t without_improvement = 0;  ///< validations since the best
  double first_loss = 0.0;               ///< the largest of the first steps, by which divergence is judged
  std::vector<TermSum> window;           ///< terms since the last line of the log
  double loss_window = 0.0;              ///< weighted loss summed over the same steps
  std::int64_t window_steps = 0;
  double curve_loss = 0.0;  ///< the same since the last validation
  std::int64_t curve_steps = 0;
  KeptNumbers kept;           ///< TrainingStep::kept()
  std::string target_figure;  ///< by which the target is judged: its best so far, and the step of that
  double target_best = std::numeric_limits<double>::quiet_NaN();
  std::int64_t target_step = -1;
};

}  // namespace cambium::train
