#pragma once

namespace cambium::train {

/// A network that gathers numbers in its forward passes which no gradient changes: running means of batch
/// normalisation. An interface beside Network; Network::state() holds the numbers.
class HasRunningStatistics {
 public:
  virtual ~HasRunningStatistics() = default;
  /// Collective, when a step is made: what the passes of all ranks since Network::begin_step() found is taken over. The
  /// numbers are then the same on every rank. Passes of a step that is not made are dropped by the next begin_step().
  virtual void end_step() = 0;
  /// The numbers of now belong to the best model so far.
  virtual void keep_best() = 0;
  /// From now on the numbers are those of the best model, if there was one.
  virtual void take_best() = 0;
};

}  // namespace cambium::train
