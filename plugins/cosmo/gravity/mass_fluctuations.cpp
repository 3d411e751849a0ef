#include "plugins/cosmo/gravity/mass_fluctuations.hpp"

#include <cmath>

#include "core/base/constants.hpp"

namespace cambium::cosmo {

double radius_of_mass(double mass, double omega_m) {
  constexpr double critical = 2.7753663e11;  // h^2 solar masses/Mpc^3
  return std::cbrt(0.75 * mass / (constants::pi * critical * omega_m));
}

MassFluctuations mass_fluctuations(const LinearPower& power, double omega_m) {
  constexpr int per_decade = 4, first = 9 * per_decade, last = 16 * per_decade;
  MassFluctuations out;
  for (int k = first; k <= last; ++k) {
    out.mass.push_back(std::pow(10.0, static_cast<double>(k) / per_decade));
    out.sigma.push_back(power.deviation(radius_of_mass(out.mass.back(), omega_m)));
  }
  return out;
}

std::optional<double> nonlinear_mass(const LinearPower& power, double omega_m, double growth) {
  double low = std::log(1e4), high = std::log(1e17);
  const auto excess = [&](double log_mass) {
    return growth * power.deviation(radius_of_mass(std::exp(log_mass), omega_m)) - 1.0;
  };
  if (excess(low) < 0.0 || excess(high) > 0.0) return std::nullopt;
  while (high - low > 1e-7) {  // sigma falls with mass
    const double middle = 0.5 * (low + high);
    (excess(middle) > 0.0 ? low : high) = middle;
  }
  return std::exp(0.5 * (low + high));
}

}  // namespace cambium::cosmo
