#pragma once
#include "core/plugin/physics.hpp"
#include "core/plugin/schedule.hpp"

namespace cambium {

/// Makes one time step: every task of the schedule in turn, each timed under the part of its name before the colon.
void advance(const Schedule& schedule, const Physics& physics, State& state, Timing& timing, bool observe);

}  // namespace cambium
