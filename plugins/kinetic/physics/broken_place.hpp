#pragma once
#include <functional>

#include "core/plugin/schedule.hpp"
#include "plugins/kinetic/physics/plasma.hpp"

namespace cambium::kinetic {

/// Collective: NumericalError when the frequency of a stage is not finite, which it is if a moment is not. It names the
/// species, the cell of configuration space and the lowest rank that holds a part of it.
void require_finite(double frequency, const Plasma& plasma, double time, const StepInfo& info, const Comm& comm);

/// NumericalError when a step is so short that time does not advance: steps shrink as something grows without bound.
void require_progress(double time, const StepInfo& info);

/// Runs `action`; a NumericalError of code that does not know the step gets the step added to its message.
void in_step(double time, const StepInfo& info, const std::function<void()>& action);

}  // namespace cambium::kinetic
