#pragma once
#include <functional>
#include <vector>

#include "core/base/citation.hpp"
#include "plugins/cosmo/gravity/cosmology.hpp"

namespace cambium::cosmo {

/// The linear power spectrum of matter today, P(k) = A k^n_s T(k)^2, with A such that its deviation in spheres of 8
/// Mpc/h is sigma_8. T is that of D. Eisenstein and W. Hu, ApJ 496, 605 (1998), eqs. 26 and 28 to 31 (no wiggles) or
/// 2 to 24 (with them), or that of J. Bardeen et al., ApJ 304, 15 (1986), eq. G3, with the shape of N. Sugiyama, ApJS
/// 100, 281 (1995).
class LinearPower {
 public:
  explicit LinearPower(const Cosmology& cosmology);
  /// (Mpc/h)^3 at k in h/Mpc; 0 at k = 0.
  double operator()(double k) const { return amplitude_ * unscaled(k); }
  double transfer(double k) const { return transfer_(k); }
  /// Deviation of the linear density today in spheres of this radius, Mpc/h.
  double deviation(double radius) const;
  std::vector<Citation> citations() const;

 private:
  double unscaled(double k) const;

  Cosmology cosmology_;
  std::function<double(double)> transfer_;
  double amplitude_ = 1.0;
};

}  // namespace cambium::cosmo
