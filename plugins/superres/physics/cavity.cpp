#include "plugins/superres/physics/cavity.hpp"

#include <algorithm>
#include <cmath>

namespace cambium::superres {

void CavitySetup::Params::describe(deck::Describe<Params>& d) { describe_convection(d); }

double CavitySetup::peclet() const { return std::sqrt(params_.rayleigh * params_.prandtl); }

Grid CavitySetup::grid() const { return Grid::make(params_.nx(), params_.nz(), 1.0, 1.0, params_.stretching, false); }

Fluid CavitySetup::fluid() const {
  Fluid fluid;
  fluid.viscosity = std::sqrt(params_.prandtl / params_.rayleigh);
  fluid.diffusivity = 1.0 / peclet();
  fluid.plates_conduct = false;
  fluid.left = 0.5;
  fluid.right = -0.5;
  return fluid;
}

std::vector<Observable> CavitySetup::observables() const {
  std::vector<Observable> list{
      {"nusselt_left", "", "heat through the warm wall over conduction", true},
      {"nusselt_right", "", "heat through the cold wall over conduction", true},
      {"nusselt_volume", "", "1 + sqrt(Ra Pr) <u b>", true},
      {"kinetic_energy", "", "<u^2 + w^2>/2", true},
      {"largest_u", "kappa/H", "largest |u| in units of diffusion", true},
      {"largest_w", "kappa/H", "largest |w| in units of diffusion", true},
  };
  add_common_observables(list);
  return list;
}

void CavitySetup::measure(const Means& m, std::span<double> values) const {
  const double all[] = {
      m.left, m.right, 1.0 + peclet() * m.flux_x, m.kinetic, peclet() * m.largest_u, peclet() * m.largest_w};
  std::copy(std::begin(all), std::end(all), values.begin());
}

std::vector<Result> CavitySetup::results(const Means& m, const TimeAverages& averages) const {
  return {
      averages.kinetic_energy(m),
      {"nusselt_number_left", "Nusselt number: left", m.left},
      {"nusselt_number_right", "Nusselt number: right", m.right},
      {"nusselt_number_volume", "Nusselt number: volume", 1.0 + peclet() * m.flux_x},
      {"nusselt_number_grad_b_2", "Nusselt number: <|grad b|^2>", m.gradient},
  };
}

}  // namespace cambium::superres
