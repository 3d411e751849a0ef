#pragma once
#include <cmath>

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

  /// w(r) and dw/dr.
  KOKKOS_INLINE_FUNCTION void weight(double r, double& w, double& dw) const {
    double u = (r - rs) * inverse_width;
    u = u < 0.0 ? 0.0 : (u > 1.0 ? 1.0 : u);
    const double uu = u * u;
    w = uu * u * (-6.0 * uu + 15.0 * u - 10.0) + 1.0;
    dw = uu * (-30.0 * uu + 60.0 * u - 30.0) * inverse_width;
  }

  /// The environment row (w/q, w d/q^2) with q = r + protection, before normalisation.
  KOKKOS_INLINE_FUNCTION void row(const double d[3], double r, double out[4]) const {
    double w, dw;
    weight(r, w, dw);
    const double inverse = 1.0 / (r + protection), s = w * inverse, t = s * inverse;
    out[0] = s;
    for (int k = 0; k < 3; ++k) out[k + 1] = t * d[k];
  }

  /// Gradient with respect to r_j of sum_k c_k row_k.
  KOKKOS_INLINE_FUNCTION void gradient(const double d[3], double r, const double c[4], double g[3]) const {
    double w, dw;
    weight(r, w, dw);
    const double inverse = 1.0 / (r + protection);
    const double ds = (dw - w * inverse) * inverse;                        // of w/q
    const double t = w * inverse * inverse, dt = (dw - 2.0 * w * inverse) * inverse * inverse;  // of w/q^2
    const double along = (c[0] * ds + (c[1] * d[0] + c[2] * d[1] + c[3] * d[2]) * dt) / r;
    for (int k = 0; k < 3; ++k) g[k] = along * d[k] + t * c[k + 1];
  }
};

}  // namespace cambium::deepmd
