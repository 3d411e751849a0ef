#pragma once
#include "core/deck/expression.hpp"
#include "core/plugin/schedule.hpp"

namespace cambium::md {

/// Temperature of a heat bath (K) at the end of a step, by the formula of its deck in t (ps) and step. InputError where
/// it is below 0 or not a number.
double bath_temperature(const deck::Expression& formula, const StepInfo& step);

}  // namespace cambium::md
