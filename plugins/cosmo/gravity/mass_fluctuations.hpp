#pragma once
#include <optional>
#include <vector>

#include "plugins/cosmo/gravity/linear_power.hpp"

namespace cambium::cosmo {

/// Radius, Mpc/h, of the sphere that holds `mass`, in solar masses over h, at the mean density of matter: M = 4/3 pi
/// R^3 omega_m times the critical density of today, 2.7753663e11 h^2 solar masses/Mpc^3 (3 H0^2/(8 pi G) with the
/// nominal solar mass parameter, IAU 2015 resolution B3).
double radius_of_mass(double mass, double omega_m);

/// sigma(M): standard deviation of the linear density today in spheres that contain these masses on average.
struct MassFluctuations {
  std::vector<double> mass;   ///< solar masses over h, four for each factor of ten, 1e9 to 1e16
  std::vector<double> sigma;  ///< of as many
};
MassFluctuations mass_fluctuations(const LinearPower& power, double omega_m);

/// Mass, solar masses over h, of spheres in which the linear density fluctuates by its mean (sigma = 1) when growth is
/// `growth` times today's; none if it is outside 1e4 to 1e17.
std::optional<double> nonlinear_mass(const LinearPower& power, double omega_m, double growth);

}  // namespace cambium::cosmo
