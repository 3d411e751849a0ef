#pragma once
#include <limits>
#include <string>
#include <vector>

#include "core/train/kinds/keeps_numbers.hpp"
#include "core/train/kinds/network.hpp"

namespace cambium::train {

/// Training state in addition to the weights; together they are everything that a resumed run needs.
struct Progress {
  std::int64_t step = 0;        ///< optimizer steps done; also the position of the loader and of the schedules
  std::int64_t best_step = -1;  ///< of the validation with the lowest measure; -1 before the first
  double best_metric = std::numeric_limits<double>::infinity();
  std::vector<double> best_errors;       ///< of that validation, one per metric
  std::int64_t without_improvement = 0;  ///< validations since the best
  double first_loss = 0.0;               ///< the largest of the first steps, reference for the detection of divergence
  std::vector<TermSum> window;           ///< terms since the last line of the log
  double loss_window = 0.0;              ///< weighted loss summed over the same steps
  std::int64_t window_steps = 0;
  double curve_loss = 0.0;  ///< the same since the last validation
  std::int64_t curve_steps = 0;
  KeptNumbers kept;           ///< TrainingStep::kept()
  std::string target_figure;  ///< metric of the target: its best value so far, and the step of that
  double target_best = std::numeric_limits<double>::quiet_NaN();
  std::int64_t target_step = -1;
};

}  // namespace cambium::train
