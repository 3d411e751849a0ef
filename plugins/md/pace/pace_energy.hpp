#pragma once
#include <cmath>

#include "core/base/constants.hpp"
#include "core/base/pack_math.hpp"
#include "plugins/md/pace/pace_file.hpp"
#include "plugins/md/pace/pace_radial.hpp"

namespace cambium::md {

/// Value and slope of a function of one variable.
template <class P>
struct PaceValue {
  P value, slope;
};

/// Embedding of one density: its sign times |rho|^m, linearised around 0: below |rho| of 1e-6 for FinnisSinclair, over
/// |rho| of order 1 for FinnisSinclairShiftedScaled.
inline PaceValue<double> pace_embedding(double rho, double exponent, bool shifted) {
  if (std::abs(exponent - 1.0) < 1e-10) return {rho, 1.0};
  const double a = std::abs(rho), sign = std::signbit(rho) ? -1.0 : 1.0;
  if (shifted) {
    const double inverse = 1.0 / exponent, decay = std::exp(-a);
    const double in = std::pow(inverse, inverse / (1.0 - inverse)) * decay;
    const double out = std::pow(inverse, 1.0 / (1.0 - inverse)) * decay;
    return {sign * (std::pow(in + a, exponent) - out), out + exponent * (1.0 - in) * std::pow(in + a, exponent - 1.0)};
  }
  constexpr double w = 1e6;
  const double line = std::pow(w, 1.0 - exponent);
  if (a <= 1e-10) return {line * rho, line};
  const double cube = w * a * w * a * w * a, g = cube > 30.0 ? 0.0 : std::exp(-cube);
  const double power = std::pow(a, exponent), g_slope = -3.0 * w * w * w * a * a * g;
  return {sign * ((1.0 - g) * power + line * g * a),
          exponent * power / a * (1.0 - g) - power * g_slope + line * (g_slope * a + g)};
}

/// Core repulsion of a bond: p exp(-q r²)/r, 0 where q r² is 50 or more, switched off by a cosine over the cut-off,
/// and, with an inner cut-off by distance, above that. For r > 0.
template <class P>
PaceValue<P> pace_core(P r, const PaceFile::Bond& bond, PaceFile::Inner inner) {
  const P inside_r = min(r, P(bond.cutoff)), inverse_r = reciprocal(r), power = P(bond.core_rate) * r * r;
  const P height = keep(power < P(50.0), P(bond.core_height) * exp(-power) * inverse_r);
  const P slope = -(height * inverse_r) * fma(P(2.0), power, P(1.0));
  P sine, cosine;
  half_wave(inside_r * P(1.0 / bond.cutoff), sine, cosine);
  const P fade = fma(P(0.5), cosine, P(0.5)), fade_slope = P(-0.5 * constants::pi / bond.cutoff) * sine;
  PaceValue<P> out{height * fade, fma(slope, fade, height * fade_slope)};
  if (inner == PaceFile::Inner::distance) {
    P step, step_slope;
    pace_step(r, bond.inner, bond.inner_width, step, step_slope);
    out.slope = fma(out.slope, step, out.value * step_slope);
    out.value *= step;
  }
  const auto inside = r < P(bond.cutoff);
  return {keep(inside, out.value), keep(inside, out.slope)};
}

/// Half of the screened repulsion of nuclei (J. F. Ziegler, J. P. Biersack and U. Littmark, 1985) with charges `za` and
/// `zb`, in the form of LAMMPS' pair style `zbl`: shifted smoothly to 0 between rc - dcut and rc; times the switch of
/// the expansion over the same range, and `core_height`.
inline PaceValue<double> pace_nuclei(double r, const PaceFile::Bond& bond, int za, int zb) {
  if (r >= bond.cutoff) return {0.0, 0.0};
  constexpr double share[4] = {0.18175, 0.50986, 0.28022, 0.02817};
  constexpr double rate[4] = {3.19980, 0.94229, 0.40290, 0.20162};
  const double a = 0.46850 / (std::pow(za, 0.23) + std::pow(zb, 0.23));
  struct Screened {
    double value, slope, curvature;
  };
  const auto screened = [&](double d) {
    double phi = 0.0, phi1 = 0.0, phi2 = 0.0;
    for (int k = 0; k < 4; ++k) {
      const double term = share[k] * std::exp(-rate[k] * d / a);
      phi += term;
      phi1 -= rate[k] / a * term;
      phi2 += rate[k] / a * rate[k] / a * term;
    }
    return Screened{phi / d, (phi1 - phi / d) / d, (phi2 - 2.0 * (phi1 - phi / d) / d) / d};
  };
  const auto here = screened(r), end = screened(bond.cutoff);
  const double start = bond.cutoff - bond.width, w = bond.width;
  const double third = (w * end.curvature - 3.0 * end.slope) / (w * w);
  const double fourth = (2.0 * end.slope - w * end.curvature) / (w * w * w);
  double shift = -end.value + 0.5 * w * end.slope - w * w * end.curvature / 12.0, shift_slope = 0.0;
  if (const double d = r - start; d > 0.0) {
    shift += d * d * d * (third / 3.0 + fourth / 4.0 * d);
    shift_slope = d * d * (third + fourth * d);
  }
  const double scale = 0.5 * bond.core_height * 14.399645351950543 * za * zb;  // eV Å
  const double value = scale * (here.value + shift), slope = scale * (here.slope + shift_slope);
  Pack<double, 1> step, step_slope;
  pace_step(Pack<double, 1>(r), bond.cutoff, w, step, step_slope);
  return {value * step.v, slope * step.v + value * step_slope.v};
}

}  // namespace cambium::md
