#pragma once
#include "core/base/pack_math.hpp"

namespace cambium::md {

/// Complementary error function of packs.
template <class P>
struct ErfcValue {
  P erfc, gauss;  ///< erfc(x) and exp(-x^2)
};

/// Relative error below 1e-15 for 0 <= x < 8; both are 0 for larger x, where erfc is below 1e-28. (1 + 2x) exp(x^2)
/// erfc(x) is a polynomial of degree 22 in (x - 3)/(x + 3), the form of M. M. Shepherd and J. G. Laframboise, Math.
/// Comp. 36, 249 (1981); its coefficients are those of Chebyshev interpolation on [0, 8].
template <class P>
CAMBIUM_FN ErfcValue<P> erfc_of(P x) {
  constexpr double c[23] = {
      0x1.40c522d7e4987p+0,  -0x1.15c084bb9e8f3p-3,  -0x1.85a15c58aa60cp-5,  0x1.098366a5b4697p-3,
      -0x1.e88b803a48aa3p-4, 0x1.17ca2877f2139p-4,   -0x1.8574c40c053bdp-6,  0x1.4b884e419de00p-9,
      0x1.ef1bdd7069e7cp-10, -0x1.98db50cf114fbp-11, -0x1.b91283f30a7f4p-14, 0x1.065a3c144540bp-13,
      0x1.4c28841ff6b72p-18, -0x1.513f276c49a0bp-16, -0x1.88faa0ea6830fp-21, 0x1.d2c23e2eff1b2p-19,
      0x1.85a629630a9b0p-22, -0x1.515256d40bc77p-21, -0x1.663ecaf715c4bp-23, 0x1.acd45815a9267p-24,
      0x1.3d4ba48e99b0dp-24, 0x1.445714b36c04cp-26,  0x1.f5e0a9edafcb4p-30};
  const auto near = x < P(8.0);
  const P y = min(x, P(8.0));
  const P above = y + P(3.0), wide = fma(P(2.0), y, P(1.0));
  const P inverse = reciprocal(above * wide);
  const P u = (y - P(3.0)) * wide * inverse;
  P p = c[22];
  for (int k = 21; k >= 0; --k) p = fma(p, u, P(c[k]));
  const P gauss = keep(near, exp(-(y * y)));
  return {gauss * p * above * inverse, gauss};
}

}  // namespace cambium::md
