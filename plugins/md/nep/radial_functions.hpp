#pragma once
#include "core/base/constants.hpp"
#include "core/base/pack.hpp"

namespace cambium::md {

/// sin(pi x) and cos(pi x) for 0 <= x <= 1, by the series around x = 1/2, to 2e-16.
template <class P>
CAMBIUM_FN void half_wave(P x, P& sine, P& cosine) {
  const P t = P(constants::pi) * (x - P(0.5)), t2 = t * t;
  P even = 1.0, odd = 1.0;  // Horner's scheme of cos t and sin t / t
  for (int k = 24; k >= 2; k -= 2) {
    even = fma(even * t2, P(-1.0 / (k * (k - 1.0))), P(1.0));
    odd = fma(odd * t2, P(-1.0 / (k * (k + 1.0))), P(1.0));
  }
  sine = even;
  cosine = -(t * odd);
}

/// Radial functions of the descriptor: sums over k of c_nk (T_k(2 (r/rc - 1)^2 - 1) + 1)/2 times half of 1 + cos(pi
/// r/rc), and their derivatives, 0 from the cut-off on.
struct RadialFunctions {
  static constexpr int most_basis = 32;
  int functions, basis;

  /// c: functions x basis coefficients.
  template <class P>
  CAMBIUM_FN void operator()(P r, double cutoff, const double* c, P* value, P* slope) const {
    const double inverse = 1.0 / cutoff;
    const auto inside = r < P(cutoff);
    const P x = min(r * P(inverse), P(1.0));
    P sine, cosine;
    half_wave(x, sine, cosine);
    const P fade = keep(inside, fma(P(0.5), cosine, P(0.5)));
    const P fade_slope = keep(inside, P(-0.5 * constants::pi * inverse) * sine);
    const P y = x - P(1.0), u = fma(P(2.0) * y, y, P(-1.0)), u_slope = P(4.0 * inverse) * y;
    P f[most_basis], g[most_basis];
    P t0 = 1.0, t1 = u, s0 = 0.0, s1 = 1.0;  // T_k, T_(k+1) and their derivatives with respect to u
    for (int k = 0; k < basis; ++k) {
      const P half = fma(P(0.5), t0, P(0.5));
      f[k] = half * fade;
      g[k] = fma(half, fade_slope, P(0.5) * s0 * u_slope * fade);
      const P t2 = fma(P(2.0) * u, t1, -t0), s2 = fma(P(2.0) * u, s1, fma(P(2.0), t1, -s0));
      t0 = t1;
      t1 = t2;
      s0 = s1;
      s1 = s2;
    }
    for (int n = 0; n < functions; ++n) {
      P v = 0.0, s = 0.0;
      for (int k = 0; k < basis; ++k) {
        v = fma(P(c[n * basis + k]), f[k], v);
        s = fma(P(c[n * basis + k]), g[k], s);
      }
      value[n] = v;
      slope[n] = s;
    }
  }
};

}  // namespace cambium::md
