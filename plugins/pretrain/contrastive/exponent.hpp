#pragma once
#include <cmath>
#include <vector>

#include "core/base/pack.hpp"
#include "core/base/pack_math.hpp"

namespace cambium::train {

/// Placeholder for the similarity of a sample with itself, which sums exclude: its exponential is 0.
template <class T>
constexpr T absent = T(-1e30);

/// e^((s - own) / temperature - weight) of similarities s in the precision T, as accurate as T allows: the argument is
/// s inverse + (s inverse_rest - offset), rounded once near 0; a factor corrects the rounding of the constants.
template <class T>
struct Exponent {
  T inverse = 0, inverse_rest = 0, offset = 0;
  double factor = 1.0;
  Exponent(double own, double inverse_temperature, double weight)
      : inverse(static_cast<T>(inverse_temperature)),
        inverse_rest(static_cast<T>(inverse_temperature - static_cast<double>(inverse))),
        offset(static_cast<T>(own * inverse_temperature + weight)),
        factor(std::exp(static_cast<double>(offset) - (own * inverse_temperature + weight))) {}
};

/// Single precision: e^x within two units in the last place for -87 < x < 88; 0 below, e^88 above. With x = n ln 2 + r,
/// 2^n is built from bits and e^r is its series to the sixth power.
template <int W>
CAMBIUM_HF Pack<float, W> exponential(Pack<float, W> x) {
  using P = Pack<float, W>;
  const P lowest(-87.0f), highest(88.0f);
  const P y = min(max(x, lowest), highest);
  if constexpr (W == 1) {
    return keep(lowest < x, P(std::exp(y[0])));
  } else {
#if defined(CAMBIUM_DEVICE_COMPILER)
    return keep(lowest < x, exp(y));
#else
    using F = detail::TanhFormat<float>;
    using Ints = typename detail::IntegerLanes<float, W * 4>::type;
    const P shifted = fma(y, P(1.4426950408889634f), P(F::shifter));
    const P n = shifted - P(F::shifter);
    const P r = fma(n, P(-F::ln2_low), fma(n, P(-F::ln2_high), y));
    P e = fma(r, P(1.0f / 720.0f), P(1.0f / 120.0f));
    e = fma(e, r, P(1.0f / 24.0f));
    e = fma(e, r, P(1.0f / 6.0f));
    e = fma(e, r, P(0.5f));
    e = fma(e * r, r, r);
    const P power = __builtin_bit_cast(P, (__builtin_bit_cast(Ints, shifted) + F::bias) << F::exponent_shift);
    return keep(lowest < x, fma(power, e, power));
#endif
  }
}
template <int W>
CAMBIUM_HF Pack<double, W> exponential(Pack<double, W> x) {
  return exp(x);
}

/// Exponents of many anchors, one for each column.
template <class T>
struct Exponents {
  std::vector<T> inverse, inverse_rest, offset, factor;
  /// The factor includes `scale`.
  void add(const Exponent<T>& one, double scale) {
    inverse.push_back(one.inverse);
    inverse_rest.push_back(one.inverse_rest);
    offset.push_back(one.offset);
    factor.push_back(static_cast<T>(one.factor * scale));
  }
};

}  // namespace cambium::train
