#pragma once
#include <cmath>
#include <vector>

#include "core/base/constants.hpp"
#include "core/base/pack_math.hpp"
#include "plugins/md/nep/radial_functions.hpp"
#include "plugins/md/pace/pace_file.hpp"

namespace cambium::md {

/// 1 below `end` - `width`, 0 above `end`, a polynomial of degree 5 between, and its derivative.
template <class P>
void pace_step(P x, double end, double width, P& value, P& slope) {
  if (width <= 0.0) {
    value = select(P(end) < x, P(0.0), P(1.0));
    slope = 0.0;
    return;
  }
  const P t = min(max(P(-1.0) - P(2.0 / width) * (x - P(end)), P(-1.0)), P(1.0)), t2 = t * t;
  value = fma(t, fma(t2, fma(t2, P(0.1875), P(-0.625)), P(0.9375)), P(0.5));
  slope = P(-7.5 / width) * fma(t2, fma(t2, P(0.25), P(-0.5)), P(0.25));
}

/// Basis functions g_k of the distance of a bond and their derivatives, 0 from the cut-off on: formulas (24) to (29) of
/// Drautz 2019 and related ones of the file format. ML-PACE interpolates them by cubic splines; here the formulas are
/// evaluated.
template <class P>
class PaceRadial {
 public:
  explicit PaceRadial(int most) : value_(most), slope_(most) {}
  const P* value() const { return value_.data(); }
  const P* slope() const { return slope_.data(); }  ///< 1/Å

  void operator()(P r, const PaceFile::Bond& bond, PaceFile::Inner inner, int count) {
    P inside_r = min(r, P(bond.cutoff));
    switch (bond.basis) {
      case PaceFile::Basis::cheb_exp_cos:
        cheb_exp_cos(inside_r, bond, count);
        break;
      case PaceFile::Basis::cheb_pow:
        cheb_pow(inside_r, bond, count);
        break;
      case PaceFile::Basis::cheb_linear:
        chebyshev(P(1.0) - inside_r * P(1.0 / bond.cutoff), P(-1.0 / bond.cutoff), count, 1);
        break;
      case PaceFile::Basis::bessel:
        bessel(inside_r, bond.cutoff, count);
        break;
    }
    auto inside = r < P(bond.cutoff);
    if (inner != PaceFile::Inner::zbl) inside = inside & (r > P(bond.inner - bond.inner_width));
    P step = 0.0, step_slope = 0.0;
    if (inner == PaceFile::Inner::distance) pace_step(r, bond.inner, bond.inner_width, step, step_slope);
    const P fade = keep(inside, P(1.0) - step), fade_slope = keep(inside, -step_slope);
    multiply(fade, fade_slope, count);
  }

 private:
  void multiply(P factor, P factor_slope, int count) {
    for (int k = 0; k < count; ++k) {
      slope_[k] = fma(slope_[k], factor, value_[k] * factor_slope);
      value_[k] *= factor;
    }
  }

  /// (1 - T_(k + first)(x)) / 2, for x with the given derivative.
  void chebyshev(P x, P x_slope, int count, int first) {
    P t0 = 1.0, t1 = x, s0 = 0.0, s1 = 1.0;
    for (int k = 0; k < count + first; ++k) {
      if (k >= first) {
        value_[k - first] = fma(P(-0.5), t0, P(0.5));
        slope_[k - first] = P(-0.5) * s0 * x_slope;
      }
      const P t2 = fma(P(2.0) * x, t1, -t0), s2 = fma(P(2.0) * x, s1, fma(P(2.0), t1, -s0));
      t0 = t1;
      t1 = t2;
      s0 = s1;
      s1 = s2;
    }
  }

  void cheb_exp_cos(P r, const PaceFile::Bond& bond, int count) {
    const double rate = bond.lambda / bond.cutoff, end = std::exp(-bond.lambda), scale = 2.0 / (1.0 - end);
    const P decay = exp(P(-rate) * r);
    chebyshev(P(1.0) - P(scale) * (decay - P(end)), P(scale * rate) * decay, count, 0);
    value_[0] = 1.0;
    slope_[0] = 0.0;
    P sine, cosine;
    half_wave(r * P(1.0 / bond.cutoff), sine, cosine);
    multiply(fma(P(0.5), cosine, P(0.5)), P(-0.5 * constants::pi / bond.cutoff) * sine, count);
    if (bond.width <= 0.0) return;
    half_wave(min(max((r - P(bond.cutoff - bond.width)) * P(1.0 / bond.width), P(0.0)), P(1.0)), sine, cosine);
    multiply(fma(P(0.5), cosine, P(0.5)), P(-0.5 * constants::pi / bond.width) * sine, count);
  }

  /// Power of y, lane by lane unless the exponent is a small integer.
  static P power(P y, double exponent) {
    P out = 1.0;
    if (exponent == std::floor(exponent) && exponent >= 0.0 && exponent <= 8.0) {
      for (int k = 0; k < static_cast<int>(exponent); ++k) out *= y;
      return out;
    }
    double lanes[P::width];
    y.store(lanes);
    for (double& lane : lanes) lane = std::pow(lane, exponent);
    return P::load(lanes);
  }

  void cheb_pow(P r, const PaceFile::Bond& bond, int count) {
    const P y = P(1.0) - r * P(1.0 / bond.cutoff);
    const P less = power(y, bond.lambda - 1.0);
    chebyshev(fma(P(-2.0), less * y, P(1.0)), P(2.0 * bond.lambda / bond.cutoff) * less, count, 1);
  }

  /// Combinations of sin(k pi r / rc) / r that are orthogonal and have zero slope at the cut-off.
  void bessel(P r, double cutoff, int count) {
    const P x = r * P(1.0 / cutoff), inverse_r = reciprocal(r);
    P sine, cosine;
    half_wave(x, sine, cosine);
    const double unit = std::sqrt(2.0) * constants::pi / (cutoff * std::sqrt(cutoff)), wave = constants::pi / cutoff;
    P s = sine, c = cosine, wave_value = s * inverse_r * P(1.0 / wave), wave_slope = (c - wave_value) * inverse_r;
    double before = 1.0;
    for (int k = 0; k < count; ++k) {
      const P next_s = fma(s, cosine, c * sine), next_c = fma(c, cosine, -(s * sine));
      s = next_s;
      c = next_c;
      const P next_value = s * inverse_r * P(1.0 / ((k + 2) * wave)), next_slope = (c - next_value) * inverse_r;
      const double a = (k + 1.0) * (k + 1.0), b = (k + 2.0) * (k + 2.0);
      const double height = (k % 2 == 0 ? unit : -unit) * (k + 1.0) * (k + 2.0) / std::sqrt(a + b);
      P value = P(height) * (wave_value + next_value), slope = P(height) * (wave_slope + next_slope);
      wave_value = next_value;
      wave_slope = next_slope;
      if (k > 0) {
        const double e = k * k * b / (4.0 * a * a + 1.0), d = 1.0 - e / before;
        const P share = std::sqrt(e / before), norm = 1.0 / std::sqrt(d);
        value = norm * fma(share, value_[k - 1], value);
        slope = norm * fma(share, slope_[k - 1], slope);
        before = d;
      }
      value_[k] = value;
      slope_[k] = slope;
    }
  }

  std::vector<P> value_, slope_;
};

}  // namespace cambium::md
