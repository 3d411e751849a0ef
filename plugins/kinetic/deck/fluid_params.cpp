#include "plugins/kinetic/deck/fluid_params.hpp"

#include <fmt/format.h>

namespace cambium::kinetic {

/// Keys that do not go with the equation; "" when all do.
static std::string problem_of_equation(const FluidParams& p) {
  const bool ten = p.equation == FluidParams::Equation::ten_moment;
  const auto of = [&](const char* key, const char* equation) {
    return fmt::format("fluid species '{}': '{}' belongs to 'equation: {}'; remove it, or use that equation", p.name,
                       key, equation);
  };
  if (!ten && !p.k0.empty()) return of("k0", "ten_moment");
  if (!ten && !p.pressure_tensor.empty()) return of("pressure_tensor", "ten_moment");
  if (ten && !p.adiabatic_index.empty()) return of("adiabatic_index", "five_moment");
  return {};
}

static std::string problem_of(const FluidParams& p) {
  if (p.velocity.size() > 3) return fmt::format("fluid species '{}': 'velocity' has at most three components", p.name);
  if (!p.pressure_tensor.empty() && p.pressure_tensor.size() != 6)
    return fmt::format("fluid species '{}': 'pressure_tensor' needs six components: xx, xy, xz, yy, yz, zz", p.name);
  if (p.pressure.empty() == p.pressure_tensor.empty())
    return fmt::format("fluid species '{}' needs 'pressure', or with ten moments 'pressure_tensor', and not both",
                       p.name);
  return problem_of_equation(p);
}

void FluidParams::describe(deck::Describe<FluidParams>& d) {
  using E = Equation;
  using L = Limiter;
  d.check(problem_of);
  d("name", &FluidParams::name, "name in tables and files").example("ion");
  d("charge", &FluidParams::charge, "charge of a particle in units of e (formula)").def("0");
  d("mass", &FluidParams::mass, "mass of a particle in the unit of mass (formula)").def("1");
  d("equation", &FluidParams::equation,
    "evolved moments: density, momentum and energy (five_moment), or density, momentum and the pressure tensor "
    "(ten_moment); always with three components of velocity")
      .options({{"five_moment", E::five_moment}, {"ten_moment", E::ten_moment}});
  d("density", &FluidParams::density, "initial number density (formula in x, y, z)").example("1 + 0.01*cos(0.5*x)");
  d("velocity", &FluidParams::velocity, "initial velocity: formulas in x, y, z for its components, as many as needed")
      .def({})
      .example("[0.1*sin(x)]");
  d("pressure", &FluidParams::pressure, "initial pressure, the same in all directions (formula in x, y, z)")
      .def("")
      .example("0.01");
  d("pressure_tensor", &FluidParams::pressure_tensor,
    "initial pressure tensor of ten_moment: formulas in x, y, z for xx, xy, xz, yy, yz, zz")
      .def({})
      .example("[2, 0, 0, 1, 0, 1]");
  d("adiabatic_index", &FluidParams::adiabatic_index,
    "ratio of specific heats gamma of five_moment (formula); default: 5/3")
      .def("")
      .example("5/3");
  d("k0", &FluidParams::k0,
    "closure of ten_moment: wave number k0 of the relaxation of the pressure tensor towards isotropy at the rate k0 "
    "sqrt(p/rho) (formula); default 0, no heat flux")
      .def("")
      .example("0.1");
  d("limiter", &FluidParams::limiter,
    "slopes of the second-order reconstruction: monotonized_central, minmod, none (central slopes, for smooth flows), "
    "or "
    "first_order (no slopes)")
      .options({{"monotonized_central", L::monotonized_central},
                {"minmod", L::minmod},
                {"none", L::none},
                {"first_order", L::first_order}})
      .def(L::monotonized_central);
  d("subcells", &FluidParams::subcells,
    "number of finite volumes of a cell along each dimension; default: order of the basis + 1")
      .range(2, 16);
}

}  // namespace cambium::kinetic
