#pragma once
#include "apps/cambium/plan/step_plan.hpp"

namespace cambium::train {

/// Seconds of one step by phase.
struct StepTime {
  double forward = 0.0, backward = 0.0;  ///< computing
  double gather = 0.0;                   ///< of weights, forward and backward, not hidden by computing
  double reduce = 0.0;                   ///< of gradients
  double exposed = 0.0;                  ///< of `reduce`, not hidden by the backward pass
  double update = 0.0;                   ///< exchanges after the optimizer's step, and gathering of gradients
  double optimizer = 0.0;
  double coding = 0.0;  ///< of messages in few bits
  double total() const { return forward + backward + gather + exposed + update + optimizer + coding; }
  double waited() const { return gather + exposed + update; }
};

/// A step in which each rank does `operations` floating-point operations, a third of them forward. Computing reaches
/// its fraction of the peak, the optimizer moves its memory once. Prefetched weights are overlapped with computing,
/// except the first module's. Messages that can be sent during the backward pass are overlapped with it, except the
/// last one.
StepTime time_of(const StepPlan& plan, double operations, const Machine& machine);

}  // namespace cambium::train
