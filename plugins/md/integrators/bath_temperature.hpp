#pragma once
#include "core/deck/expression.hpp"
#include "core/plugin/schedule.hpp"

namespace cambium::md {

/// Thermostat temperature (K) at the end of a step, from the deck's formula in t (ps) and step. InputError if it is
/// negative or NaN.
double bath_temperature(const deck::Expression& formula, const StepInfo& step);

}  // namespace cambium::md
