#include "plugins/superres/physics/rayleigh_benard.hpp"

#include <algorithm>
#include <cmath>

namespace cambium::superres {

void PlatesSetup::Params::describe(deck::Describe<Params>& d) {
  describe_convection(d, true);
  d("aspect_ratio", &Params::width, "period along x over the height of the layer")
      .formerly("width")
      .positive()
      .def(2.0);
  d("aspect_ratio_y", &Params::depth,
    "period along y over the height of a three-dimensional layer; default: that along x")
      .positive();
  d("plates", &Params::plates, "velocity on the plates")
      .options({{"no_slip", Wall::no_slip}, {"free_slip", Wall::free_slip}})
      .def(Wall::no_slip);
  d.check([](const Params& p) {
    return p.depth && !p.spatial() ? "'aspect_ratio_y' is for three dimensions: give three 'cells', along x, y and z"
                                   : "";
  });
  d.check([](const Params& p) {
    return p.spatial() && p.correction ? "'correction' is for two dimensions: give two 'cells', or leave it out" : "";
  });
}

double PlatesSetup::peclet() const { return std::sqrt(params_.rayleigh * params_.prandtl); }

Grid PlatesSetup::grid() const {
  const Grid section = Grid::make(params_.nx(), params_.nz(), params_.width, 1.0, params_.stretching, true);
  return params_.spatial() ? section.extruded(params_.ny(), params_.depth.value_or(params_.width)) : section;
}

Fluid PlatesSetup::fluid() const {
  Fluid fluid;
  fluid.viscosity = std::sqrt(params_.prandtl / params_.rayleigh);
  fluid.diffusivity = 1.0 / peclet();
  fluid.plates = params_.plates;
  return fluid;
}

std::vector<Observable> PlatesSetup::observables() const {
  std::vector<Observable> list{
      {"nusselt_bottom", "", "heat through the lower plate over conduction", true},
      {"nusselt_top", "", "heat through the upper plate over conduction", true},
      {"nusselt_volume", "", "1 + sqrt(Ra Pr) <w b>", true},
      {"kinetic_energy", "", params_.spatial() ? "<u^2 + v^2 + w^2>/2" : "<u^2 + w^2>/2", true},
      {"dissipation", "", "viscous, nu <|grad u|^2>", true},
      {"thermal_dissipation", "", "kappa <|grad b|^2>", false},
  };
  add_common_observables(list);
  return list;
}

void PlatesSetup::measure(const Means& m, std::span<double> values) const {
  const double all[] = {m.bottom,
                        m.top,
                        1.0 + peclet() * m.flux_z,
                        m.kinetic,
                        fluid().viscosity * m.strain,
                        fluid().diffusivity * m.gradient};
  std::copy(std::begin(all), std::end(all), values.begin());
}

std::vector<Result> PlatesSetup::results(const Means& m, const TimeAverages& averages) const {
  const double volume = 1.0 + peclet() * m.flux_z;
  const double viscous = 1.0 + peclet() * fluid().viscosity * m.strain;
  auto closure = [&](double nusselt) { return fmt::format("{:+.2g} %", 100.0 * (nusselt / volume - 1.0)); };
  return {
      averages.kinetic_energy(m),
      {"nusselt_number_bottom", "Nusselt number: bottom", m.bottom},
      {"nusselt_number_top", "Nusselt number: top", m.top},
      {"nusselt_number_volume", "Nusselt number: volume", volume},
      {"nusselt_viscous", "exact identities: 1 + sqrt(Ra Pr) eps", viscous, "", {}, closure(viscous)},
      {"grad_b_2", "exact identities: <|grad b|^2>", m.gradient, "", {}, closure(m.gradient)},
  };
}

}  // namespace cambium::superres
