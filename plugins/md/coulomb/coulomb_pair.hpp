#pragma once
#include "core/base/constants.hpp"
#include "core/pair/pair_kernel.hpp"
#include "plugins/md/coulomb/erfc.hpp"

namespace cambium::md {

/// q_i q_j C [erfc(alpha r)/r + constant + slope r] within the cut-off, C = e^2/(4 pi eps0), for PairKernel: the
/// real-space part of an Ewald sum with constant = slope = 0, otherwise a damped shifted-force form.
struct CoulombPair {
  const double* charge;  ///< e, by row; 0 for the sentinel
  double alpha;          ///< 1/Å
  double cutoff2;        ///< Å^2
  double constant;       ///< 1/Å
  double slope;          ///< 1/Å^2

  struct Row {
    double strength;  ///< C q_i, eV Å/e
  };
  CAMBIUM_FN Row row(int i, int) const { return {constants::coulomb * charge[i]}; }

  template <bool energies, class P>
  CAMBIUM_FN void pair(const Row& row, P r2, const int* j, P, P& f_over_r, P& energy) const {
    const auto inside = r2 < P(cutoff2);
    const P inverse_r = reciprocal_sqrt(r2);
    const P x = P(alpha) * r2 * inverse_r;
    const auto [tail, gauss] = erfc_of(x);
    const P strength = P(row.strength) * P::lookup(charge, j);
    const P screened = tail * inverse_r;
    constexpr double two_over_root_pi = 1.12837916709551257390;
    const P force = fma(fma(P(two_over_root_pi * alpha), gauss, screened), inverse_r, P(-slope));
    f_over_r = keep(inside, strength * force * inverse_r);
    if constexpr (energies) energy = keep(inside, strength * (screened + fma(P(slope), r2 * inverse_r, P(constant))));
  }
};

}  // namespace cambium::md
