#pragma once
#include "apps/cambium/plan/step_plan.hpp"

namespace cambium::train {

/// Seconds of one step by phase.
struct StepTime {
  double forward = 0.0, backward = 0.0;  ///< computing
  double gather = 0.0;                   ///< of weights, forward and backward, what computing does not hide
  double reduce = 0.0;                   ///< of gradients
  double exposed = 0.0;                  ///< of `reduce`, what the backward pass does not hide
  double update = 0.0;                   ///< exchanges after the optimizer's step, and gathering of gradients
  double optimizer = 0.0;
  double coding = 0.0;  ///< of messages in few bits
  double total() const { return forward + backward + gather + exposed + update + optimizer + coding; }
  double waited() const { return gather + exposed + update; }
};

/// A step in which each rank does `operations` floating-point operations, a third of them forward. Computing takes its
/// share of the peak, the optimizer moves its memory once. Weights that are gathered ahead are hidden behind computing
/// but for the first module's. What can travel while the backward pass goes on is hidden behind it, but for its last
/// message.
StepTime time_of(const StepPlan& plan, double operations, const Machine& machine);

}  // namespace cambium::train
