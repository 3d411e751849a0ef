#include "plugins/md/integrators/bath_temperature.hpp"

#include <fmt/format.h>

#include "core/base/key_error.hpp"

namespace cambium::md {

double bath_temperature(const deck::Expression& formula, const StepInfo& step) {
  const double kelvin = formula(step.time, static_cast<double>(step.step));
  if (kelvin >= 0.0 && kelvin < 1e300) return kelvin;
  throw KeyError("integrator.temperature.negative", "temperature",
                 fmt::format("the thermostat temperature '{0}' is {1:g} K at step {2} (t = {3:g} ps), but has to be 0 "
                             "or more; let it end in time, as in 'max({0}, 10)', or give fewer steps",
                             formula.text(), kelvin, step.step, step.time));
}

}  // namespace cambium::md
