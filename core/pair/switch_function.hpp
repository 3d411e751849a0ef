#pragma once
#include "core/base/pack.hpp"

namespace cambium {

/// C2 switch in the squared distance: S = 1 - 10 t^3 + 15 t^4 - 6 t^5 with t = (r^2 - start^2) / (stop^2 - start^2),
/// 1 below `start` and 0 beyond `stop`. S, dS/dr and d2S/dr2 are continuous at both ends, so energy is conserved to the
/// order of the integrator, and no square root is taken.
struct SwitchFunction {
  double start_squared = 0.0;
  double inverse_width = 0.0;  ///< 1 / (stop^2 - start^2), Å^-2

  SwitchFunction() = default;
  SwitchFunction(double start, double stop)
      : start_squared(start * start), inverse_width(1.0 / (stop * stop - start * start)) {}

  /// S, and s2 = (dS/dr)/r.
  template <class P>
  CAMBIUM_FN static void apply(P r2, P start_squared, P inverse_width, P& s, P& s2) {
    const P t = max(P(0.0), min(P(1.0), (r2 - start_squared) * inverse_width));
    const P u = P(1.0) - t, tt = t * t;
    s = fma(tt * t, fma(t, fma(P(-6.0), t, P(15.0)), P(-10.0)), P(1.0));
    s2 = P(-60.0) * inverse_width * (tt * u) * u;
  }
  template <class P>
  CAMBIUM_FN void operator()(P r2, P& s, P& s2) const {
    apply(r2, P(start_squared), P(inverse_width), s, s2);
  }
};

}  // namespace cambium
