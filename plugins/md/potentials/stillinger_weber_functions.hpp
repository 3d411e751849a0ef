#pragma once
#include "core/base/pack_math.hpp"
#include "plugins/md/potentials/stillinger_weber.hpp"

namespace cambium::md {

/// The formulas of StillingerWeber for packs of neighbours of one central atom. The triplet sum needs no pairs of
/// neighbours: with unit vectors u_j and weights e_j = exp(gamma y_ij),
///   sum_(j<k) e_j e_k (u_j.u_k - c)^2 = 1/2 [T:T - 2 c V.V + c^2 S^2 - (1-c)^2 sum_j e_j^2],
/// where T = sum_j e_j u_j u_j, V = sum_j e_j u_j and S = sum_j e_j, so the cost is linear in the number of neighbours.
/// `standard` is for p = 4, q = 0.
template <class P, bool standard>
struct StillingerWeberFunctions {
  /// exp(-40) is below the rounding error of any sum it contributes to, so neighbours with y < -40 are left out.
  static constexpr double negligible = 40.0;

  StillingerWeber::Params s;
  double cutoff, reach_squared;

  explicit StillingerWeberFunctions(const StillingerWeber::Params& params) : s(params), cutoff(s.a * s.sigma) {
    const double reach = cutoff - s.sigma / negligible;
    reach_squared = reach * reach;
  }

  /// Functions of the distance of a neighbour.
  struct Radial {
    P inverse_r;
    P weight, slope;     ///< e and de/dr
    P pair, pair_slope;  ///< pair energy and its derivative
  };
  /// Data of a neighbour for the angular part.
  struct Leg {
    P ux, uy, uz, inverse_r, weight, slope, pair_slope;
  };
  struct Moments {
    P xx = 0.0, yy = 0.0, zz = 0.0, xy = 0.0, xz = 0.0, yz = 0.0;
    P x = 0.0, y = 0.0, z = 0.0, s = 0.0;
  };
  struct Vector {
    P x, y, z;
  };

  CAMBIUM_FN static P power(P base, int exponent) {
    P result = 1.0;
    for (int k = 0; k < exponent; ++k) result *= base;
    return result;
  }

  /// Beyond the reach, all are zero except 1/r.
  CAMBIUM_FN Radial radial(P r2) const {
    const auto near = r2 < P(reach_squared);
    Radial f;
    f.inverse_r = reciprocal_sqrt(r2);
    const P y = P(s.sigma) * reciprocal(min(r2 * f.inverse_r - P(cutoff), P(-s.sigma / negligible)));
    const P dy_dr = y * y * P(-1.0 / s.sigma);
    f.weight = keep(near, exp(P(s.gamma) * y));
    f.slope = P(s.gamma) * dy_dr * f.weight;
    const P strength = keep(near, P(s.A * s.epsilon) * exp(y));
    const P ratio = P(s.sigma) * f.inverse_r;
    P bracket, bracket_slope;  // B ratio^p - ratio^q, and r times its derivative
    if constexpr (standard) {
      const P ratio2 = ratio * ratio, repulsion = P(s.B) * ratio2 * ratio2;
      bracket = repulsion - P(1.0);
      bracket_slope = P(-4.0) * repulsion;
    } else {
      const P attraction = power(ratio, s.q), repulsion = P(s.B) * power(ratio, s.p);
      bracket = repulsion - attraction;
      bracket_slope = P(s.q) * attraction - P(s.p) * repulsion;
    }
    f.pair = strength * bracket;
    f.pair_slope = strength * fma(bracket_slope, f.inverse_r, bracket * dy_dr);
    return f;
  }

  CAMBIUM_FN static void add_to_moments(const Leg& leg, Moments& m) {
    const P x = leg.weight * leg.ux, y = leg.weight * leg.uy, z = leg.weight * leg.uz;
    m.s += leg.weight;
    m.x += x;
    m.y += y;
    m.z += z;
    m.xx = fma(x, leg.ux, m.xx);
    m.yy = fma(y, leg.uy, m.yy);
    m.zz = fma(z, leg.uz, m.zz);
    m.xy = fma(x, leg.uy, m.xy);
    m.xz = fma(x, leg.uz, m.xz);
    m.yz = fma(y, leg.uz, m.yz);
  }

  /// Sums over lanes, broadcast to every lane.
  CAMBIUM_FN static void spread(Moments& m) {
    m.s = total(m.s);
    m.x = total(m.x);
    m.y = total(m.y);
    m.z = total(m.z);
    m.xx = total(m.xx);
    m.yy = total(m.yy);
    m.zz = total(m.zz);
    m.xy = total(m.xy);
    m.xz = total(m.xz);
    m.yz = total(m.yz);
  }

  /// Energy of all triplets around the central atom; `squares` is the sum of e_j^2.
  CAMBIUM_FN double triplet_energy(const Moments& m, double squares) const {
    const double xx = m.xx[0], yy = m.yy[0], zz = m.zz[0], xy = m.xy[0], xz = m.xz[0], yz = m.yz[0];
    const double x = m.x[0], y = m.y[0], z = m.z[0], sum = m.s[0], c = s.cos0;
    const double tt = xx * xx + yy * yy + zz * zz + 2.0 * (xy * xy + xz * xz + yz * yz);
    const double vv = x * x + y * y + z * z;
    return 0.5 * s.lambda * s.epsilon * (tt - 2.0 * c * vv + c * c * sum * sum - (1.0 - c) * (1.0 - c) * squares);
  }

  /// Gradient of the triplet energy with respect to the neighbours.
  CAMBIUM_FN Vector triplet_gradient(const Leg& leg, const Moments& m) const {
    const double strength = s.lambda * s.epsilon;
    // w = T u - c V is the gradient of the energy with respect to u, without its factor 2 lambda eps e.
    const P c = s.cos0;
    const P wx = fma(m.xx, leg.ux, fma(m.xy, leg.uy, fma(m.xz, leg.uz, -(c * m.x))));
    const P wy = fma(m.xy, leg.ux, fma(m.yy, leg.uy, fma(m.yz, leg.uz, -(c * m.y))));
    const P wz = fma(m.xz, leg.ux, fma(m.yz, leg.uy, fma(m.zz, leg.uz, -(c * m.z))));
    const P uw = fma(leg.ux, wx, fma(leg.uy, wy, leg.uz * wz));
    const P uv = fma(leg.ux, m.x, fma(leg.uy, m.y, leg.uz * m.z));
    const P by_weight = uw - c * uv + fma(c * c, m.s, P(-(1.0 - s.cos0) * (1.0 - s.cos0)) * leg.weight);
    const P across = P(2.0 * strength) * leg.weight * leg.inverse_r;
    const P along = P(strength) * by_weight * leg.slope - across * uw;
    return {fma(along, leg.ux, across * wx), fma(along, leg.uy, across * wy), fma(along, leg.uz, across * wz)};
  }
};

}  // namespace cambium::md
