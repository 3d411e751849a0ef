#pragma once
#include <string>

#include "core/deck/describe.hpp"

namespace cambium::cosmo {

/// A flat universe of matter and dark energy, and the spectrum of its density: the keys of a deck.
struct Cosmology {
  enum class Transfer { eisenstein_hu, wiggles, bbks };

  double omega_m = 0.3175;  ///< matter today, in units of the critical density
  double omega_b = 0.049;   ///< of it, baryons: they shape the transfer function only
  double h = 0.6711;        ///< Hubble's constant today over 100 km/s/Mpc
  double n_s = 0.9624;      ///< spectral index of the primordial field
  double sigma_8 = 0.834;   ///< deviation of the linear density today in spheres of 8 Mpc/h
  Transfer transfer = Transfer::eisenstein_hu;
  double w0 = -1.0;       ///< pressure of dark energy over its energy density today; -1: a cosmological constant
  double wa = 0.0;        ///< how that ratio changes: w(a) = w0 + wa (1 - a)
  double t_cmb = 2.7255;  ///< temperature of the background radiation today, K (D. Fixsen, ApJ 707, 916 (2009))
  static void describe(deck::Describe<Cosmology>& d);
};

/// Reason why boxes of this cosmology cannot be made: a number that no deck may have (0.05 to 1 of omega_m, for one, or
/// not a number), or a transfer function that does not hold. Empty when nothing does.
std::string problem_of(const Cosmology& c);

/// How much baryons lower the shape of the spectrum at small scales (Eisenstein and Hu 1998, eq. 31).
double suppression(const Cosmology& c);

}  // namespace cambium::cosmo
