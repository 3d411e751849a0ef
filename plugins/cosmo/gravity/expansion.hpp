#pragma once
#include "plugins/cosmo/gravity/cosmology.hpp"

namespace cambium::cosmo {

/// Displacements of particles in proportion to their first and second order today, and d ln D / d ln a of each.
struct Growth {
  double first, first_rate;    ///< D1, 1 today; f1
  double second, second_rate;  ///< D2, near -3/7 D1^2; f2
};

/// The flat universe of matter and dark energy as a function of its scale factor a, 1 today. Times are in units of
/// 1/H0. Dark energy has the equation of state w(a) = w0 + wa (1 - a) (M. Chevallier and D. Polarski, Int. J. Mod.
/// Phys. D 10, 213 (2001); E. Linder, Phys. Rev. Lett. 90, 091301 (2003)) and does not cluster.
class Expansion {
 public:
  explicit Expansion(double omega_m, double w0 = -1.0, double wa = 0.0);
  explicit Expansion(const Cosmology& c) : Expansion(c.omega_m, c.w0, c.wa) {}
  double omega_m() const { return omega_m_; }

  /// H/H0 = sqrt(omega_m a^-3 + (1 - omega_m) X(a)), X = a^(-3 (1 + w0 + wa)) exp(-3 wa (1 - a)).
  double rate(double a) const;
  /// Integrals of dt/a^2 and dt/a between two scale factors: how far a momentum carries and what a force gives (T.
  /// Quinn et al., arXiv:astro-ph/9710043 (1997)). Five-point Gauss formula on panels of a tenth in ln a, 1e-13 or
  /// better.
  double drift(double from, double to) const;
  double kick(double from, double to) const;

  /// Integrates from a = 1e-4, with the growth of a matter-only universe there, to `a`:
  ///   D1'' + (2 + H'/H) D1' = 3/2 Om(a) D1
  ///   D2'' + (2 + H'/H) D2' = 3/2 Om(a) (D2 - D1^2)          (F. Bouchet et al., A&A 296, 575 (1995))
  /// with derivatives by ln a, by fourth-order Runge-Kutta steps.
  Growth growth(double a) const;

 private:
  struct Orders {
    double d1, v1, d2, v2;
  };
  /// Density of dark energy over that today, X(a).
  double dark_energy(double a) const;
  Orders slope(double log_a, const Orders& y) const;
  Orders integrate(double a) const;
  template <class F>
  double integral(double from, double to, F&& f) const;

  double omega_m_, w0_, wa_;
  double today_ = 1.0;  ///< D1(1) before normalisation
};

}  // namespace cambium::cosmo
