#pragma once
#include <vector>

#include "plugins/kinetic/collisions/dougherty.hpp"

namespace cambium::kinetic {

/// Collisions of two species a, b with each other, by the operator of Dougherty on each side,
///   C_ab = nu_ab d/dv . [ (v - u_ab) f_a + vt_ab^2 df_a/dv ],   nu_ba = nu_ab m_a n_a / (m_b n_b),
/// with the prescription of Greene (Phys. Fluids 16, 2022 (1973)) for beta = 0:
///   u_ab = u_ba = (u_a + u_b) / 2,   vt_ab^2 = vt_a^2 + [T_b - T_a + m_b |u_a - u_b|^2 / vdim] / (2 (m_a + m_b)),
/// so that drifts and temperatures relax in the ratio of elastic collisions (Morse, Phys. Fluids 6, 1420 (1963)):
///   du_a/dt = nu_ab (u_b - u_a) / 2,   dT_a/dt = nu_ab m_a / (m_a + m_b) (T_b - T_a)  for equal drifts.
/// Here u_ab and vt_ab are what the discrete operators need for exactly these exchanges of momentum and energy, at each
/// stage of the time stepping: the density of each species, total momentum and total energy are conserved to rounding.
class BetweenSpecies {
 public:
  struct Side {
    Dougherty op;
    double mass;
  };
  /// `frequency` is nu_ab per cell of this rank's configuration space; both species must have the same decomposition.
  BetweenSpecies(Side a, Side b, std::vector<double> frequency)
      : side_{std::move(a), std::move(b)}, frequency_(std::move(frequency)) {}

  /// Collisions during dt act on slot 0 of both, on the device (Solver::changed is left to the caller). NumericalError
  /// if a density or temperature is not positive.
  void act(Solver& a, Solver& b, double dt);
  /// The same, implicit in velocity and with the exact exchange of momentum and energy of any dt.
  void act_implicitly(Solver& a, Solver& b, double dt);
  void set_frequency(std::vector<double> frequency) { frequency_ = std::move(frequency); }
  /// As Dougherty::explicit_steps, for the moments of both.
  double explicit_steps(const std::vector<double>& a, const std::vector<double>& b, double dt) const;

 private:
  template <class T>
  void act_on(Solver& a, Solver& b, double dt);
  template <class T>
  void act_implicitly_on(Solver& a, Solver& b, double dt);

  Side side_[2];
  std::vector<double> frequency_;
};

}  // namespace cambium::kinetic
