#pragma once
#include <limits>
#include <vector>

#include "core/train/kinds/network.hpp"
#include "core/train/weights/flat/buffer.hpp"

namespace cambium::train {

/// Everything that changes while a network is trained, and all that a resumed run needs.
struct Progress {
  std::int64_t step = 0;           ///< optimizer steps done; also the position of the loader and of the schedules
  FlatBuffer weights;              ///< with `direct` or `parallel` only while a file is written or read
  std::vector<double> grids;       ///< with `direct`: steps of the weights' grids, while a file is written or read
  std::vector<FlatBuffer> states;  ///< of the optimizer
  FlatBuffer average;              ///< with `average` in the deck
  FlatBuffer best;                 ///< weights (or their average) at best_step, once validated
  std::int64_t best_step = -1;
  double best_metric = std::numeric_limits<double>::infinity();
  std::int64_t without_improvement = 0;  ///< validations since the best
  double first_loss = 0.0;               ///< the largest of the first steps, by which divergence is judged
  std::vector<TermSum> window;           ///< terms since the last line of the log
  double loss_window = 0.0;              ///< weighted loss summed over the same steps
  std::int64_t window_steps = 0;
};

}  // namespace cambium::train
