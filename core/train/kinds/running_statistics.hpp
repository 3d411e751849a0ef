#pragma once

namespace cambium::train {

/// Interface of a network with running statistics that its forward passes update without gradients, such as the means
/// of batch normalisation; in addition to Network. Network::state() stores them.
class HasRunningStatistics {
 public:
  virtual ~HasRunningStatistics() = default;
  /// Collective, when a step is applied: merges the statistics of the passes of all ranks since Network::begin_step().
  /// Afterwards they are the same on every rank. Passes of a discarded step are dropped by the next begin_step().
  virtual void end_step() = 0;
  /// Stores the current statistics as those of the best model.
  virtual void keep_best() = 0;
  /// Restores the statistics of the best model, if any.
  virtual void take_best() = 0;
};

}  // namespace cambium::train
