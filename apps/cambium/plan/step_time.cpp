#include "apps/cambium/plan/step_time.hpp"

#include <algorithm>

namespace cambium::train {

StepTime time_of(const StepPlan& plan, double operations, const Machine& machine) {
  StepTime out;
  const double computing = operations / (machine.peak * machine.reached_peak);
  out.forward = computing / 3.0;
  out.backward = computing - out.forward;
  double hidden = 0.0, last = 0.0, forward = 0.0, backward = 0.0, first = 0.0;
  for (const auto& e : plan.exchanges) {
    const double seconds = seconds_of(e.pattern, e.sent, e.calls, e.ranks, e.stride, machine);
    if (machine.coding > 0.0) out.coding += 4.0 * static_cast<double>(e.coded) / machine.coding;
    switch (e.phase) {
      case Phase::forward:
        forward += seconds;
        first = std::max(first, seconds / static_cast<double>(e.calls));
        break;
      case Phase::backward:
        backward += seconds;
        break;
      case Phase::reduce:
        out.reduce += seconds;
        hidden += seconds;
        last += seconds / static_cast<double>(e.calls);
        break;
      case Phase::after:
        if (e.collective == "gather update" || e.collective == "gather gradient")
          out.update += seconds;
        else {
          out.reduce += seconds;
          out.exposed += seconds;
        }
        break;
    }
  }
  if (plan.prefetch) {
    out.gather = std::max(first, forward - out.forward) + std::max(0.0, backward - out.backward);
    out.exposed += std::max(last, hidden - std::max(0.0, out.backward - backward));
  } else {
    out.gather = forward + backward;
    out.exposed += std::max(last, hidden - out.backward);
  }
  out.optimizer = static_cast<double>(plan.update_bytes) / machine.memory_bandwidth;
  return out;
}

}  // namespace cambium::train
