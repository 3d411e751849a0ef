#pragma once
#include <cmath>

#include "core/base/pack.hpp"
#include "core/parallel/kokkos.hpp"

namespace cambium::deepmd {

/// The smooth cut-off of se_e2_a: 1 up to rs, 0 from rc on, twice continuously differentiable.
struct CutOff {
  double rs = 0.0, rc = 0.0;
  double inverse_width = 0.0;  ///< 1 / (rc - rs)
  double protection = 0.0;     ///< added to r in denominators

  /// `single` rounds rs, rc and their difference to float32, as DeePMD-kit's TensorFlow operators do.
  static CutOff make(double rs, double rc, double protection, bool single) {
    CutOff c;
    const float rs_single = static_cast<float>(rs), rc_single = static_cast<float>(rc);
    c.rs = single ? rs_single : rs;
    c.rc = single ? rc_single : rc;
    c.inverse_width = 1.0 / (single ? static_cast<double>(rc_single - rs_single) : rc - rs);
    c.protection = protection;
    return c;
  }

  /// w(r) and dw/dr, of a pack of distances or of one.
  template <class P>
  KOKKOS_INLINE_FUNCTION void weight(P r, P& w, P& dw) const {
    const P u = min(max((r - P(rs)) * P(inverse_width), P(0.0)), P(1.0));
    const P uu = u * u;
    w = uu * u * (P(-6.0) * uu + P(15.0) * u - P(10.0)) + P(1.0);
    dw = uu * (P(-30.0) * uu + P(60.0) * u - P(30.0)) * P(inverse_width);
  }

  KOKKOS_INLINE_FUNCTION void weight(double r, double& w, double& dw) const {
    Pack<double, 1> value, slope;
    weight(Pack<double, 1>(r), value, slope);
    w = value.v;
    dw = slope.v;
  }

  /// The environment row (w/q, w d/q^2) with q = r + protection, before normalisation.
  KOKKOS_INLINE_FUNCTION void row(const double d[3], double r, double out[4]) const {
    double w, dw;
    weight(r, w, dw);
    const double inverse = 1.0 / (r + protection), s = w * inverse, t = s * inverse;
    out[0] = s;
    for (int k = 0; k < 3; ++k) out[k + 1] = t * d[k];
  }

  /// Gradient with respect to r_j of sum_k c_k row_k, for as many pairs as P has lanes.
  template <class P>
  KOKKOS_INLINE_FUNCTION void gradient(const P d[3], P r, const P c[4], P g[3]) const {
    P w, dw;
    weight(r, w, dw);
    const P inverse = P(1.0) / (r + P(protection));
    const P ds = (dw - w * inverse) * inverse;                                                // of w/q
    const P t = w * inverse * inverse, dt = (dw - P(2.0) * w * inverse) * inverse * inverse;  // of w/q^2
    const P along = (c[0] * ds + (c[1] * d[0] + c[2] * d[1] + c[3] * d[2]) * dt) / r;
    for (int k = 0; k < 3; ++k) g[k] = along * d[k] + t * c[k + 1];
  }
};

}  // namespace cambium::deepmd
