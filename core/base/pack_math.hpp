#pragma once
// Elementary functions of packs.
#include "core/base/pack.hpp"

namespace cambium {

/// Hyperbolic tangent of one number.
template <class T>
CAMBIUM_FN Pack<T, 1> tanh(Pack<T, 1> x) {
  return std::tanh(x.v);
}
/// Exponential of one number.
template <class T>
CAMBIUM_FN Pack<T, 1> exp(Pack<T, 1> x) {
  return std::exp(x.v);
}

#if !defined(__CUDACC__) && !defined(__HIPCC__)
namespace detail {

template <class T, int Bytes>
struct IntegerLanes;
#define CAMBIUM_INTEGER_LANES(T, I, Bytes)               \
  template <>                                            \
  struct IntegerLanes<T, Bytes> {                        \
    typedef I type __attribute__((vector_size(Bytes)));  \
    typedef T reals __attribute__((vector_size(Bytes))); \
  };
CAMBIUM_INTEGER_LANES(double, std::int64_t, 16)
CAMBIUM_INTEGER_LANES(double, std::int64_t, 32)
CAMBIUM_INTEGER_LANES(double, std::int64_t, 64)
CAMBIUM_INTEGER_LANES(float, std::int32_t, 16)
CAMBIUM_INTEGER_LANES(float, std::int32_t, 32)
CAMBIUM_INTEGER_LANES(float, std::int32_t, 64)
#undef CAMBIUM_INTEGER_LANES

/// Constants of a floating-point format that tanh() needs.
template <class T>
struct TanhFormat;
template <>
struct TanhFormat<double> {
  using Integer = std::int64_t;
  static constexpr double saturated = 20.0;    // 1 - tanh is below 0.5 ulp
  static constexpr double shifter = 0x1.8p52;  // adding it rounds to an integer, kept in the low bits
  static constexpr double ln2_high = 0x1.62e42fefa0000p-1, ln2_low = 0x1.cf79abc9e3b3ap-40;
  static constexpr int exponent_shift = 52, bias = 1023;
  static constexpr int terms = 13;
};
template <>
struct TanhFormat<float> {
  using Integer = std::int32_t;
  static constexpr float saturated = 10.0f;
  static constexpr float shifter = 0x1.8p23f;
  static constexpr float ln2_high = 0x1.62e400p-1f, ln2_low = 0x1.7f7d1cp-20f;
  static constexpr int exponent_shift = 23, bias = 127;
  static constexpr int terms = 7;
};

/// 1 / k!, the coefficients of the exponential series.
template <class T>
struct InverseFactorials {
  T value[16];
  constexpr InverseFactorials() : value{} {
    double term = 1.0;
    for (int k = 0; k < 16; ++k) {
      value[k] = static_cast<T>(term);
      term /= k + 1;
    }
  }
};
template <class T>
constexpr InverseFactorials<T> inverse_factorials{};

}  // namespace detail

/// Hyperbolic tangent, (e^2|x| - 1) / (e^2|x| + 1) with the sign of x. With 2|x| = n ln 2 + r, |r| <= ln 2 / 2, the
/// numerator is 2^n (e^r - 1) + (2^n - 1), without cancellation. Error below 3 ulp.
template <class T, int W>
CAMBIUM_FN Pack<T, W> tanh(Pack<T, W> x) {
  using F = detail::TanhFormat<T>;
  using Result = Pack<T, W>;
  using Lanes = detail::IntegerLanes<T, W* static_cast<int>(sizeof(T))>;
  using Ints = typename Lanes::type;
  using Reals = typename Lanes::reals;
  const Reals in = __builtin_bit_cast(Reals, x);
  const Ints sign_bit = Ints{} + (static_cast<typename F::Integer>(1) << (8 * sizeof(T) - 1));
  const Ints sign = __builtin_bit_cast(Ints, in) & sign_bit;
  Reals y = __builtin_bit_cast(Reals, __builtin_bit_cast(Ints, in) & ~sign_bit);
  y = y > F::saturated ? Reals{} + F::saturated : y;
  y = y + y;
  const Reals shifted = y * T(1.4426950408889634074) + F::shifter;
  const Reals n = shifted - F::shifter;
  const Reals r = (y - n * F::ln2_high) - n * F::ln2_low;
  const auto& c = detail::inverse_factorials<T>.value;
  Reals p = Reals{} + c[F::terms];
#pragma GCC unroll 16
  for (int k = F::terms - 1; k >= 2; --k) p = p * r + c[k];
  p = p * (r * r) + r;
  const Reals power = __builtin_bit_cast(Reals, (__builtin_bit_cast(Ints, shifted) + F::bias) << F::exponent_shift);
  const Reals numerator = p * power + (power - T(1));
  const Reals t = numerator / (numerator + T(2));
  return __builtin_bit_cast(Result, __builtin_bit_cast(Ints, t) | sign);
}

/// e^x within 1.1 ulp for -708 < x < 709.7; 0 below, infinite above. With x = n ln 2 + r, |r| <= ln 2 / 2, e^r is a
/// polynomial of degree 11 with minimal maximum relative error (3.6e-18), from the Remez exchange algorithm.
template <int W>
requires(W > 1) CAMBIUM_FN Pack<double, W> exp(Pack<double, W> x) {
  using F = detail::TanhFormat<double>;
  using P = Pack<double, W>;
  using Ints = typename detail::IntegerLanes<double, W * 8>::type;
  const P lowest = -708.0, highest = 709.7;
  const P y = min(max(x, lowest), highest);
  const P shifted = fma(y, P(1.4426950408889634074), P(F::shifter));
  const P n = shifted - P(F::shifter);
  const P r = fma(n, P(-F::ln2_low), fma(n, P(-F::ln2_high), y));
  const P r2 = r * r, r4 = r2 * r2;
  const P a0 = fma(P(0x1.55555555554fap-3), r, P(0x1.000000000000ap-1));
  const P a1 = fma(P(0x1.1111111127be5p-7), r, P(0x1.555555555087cp-5));
  const P a2 = fma(P(0x1.a01a012a57b5ep-13), r, P(0x1.6c16c1842a126p-10));
  const P a3 = fma(P(0x1.71df255235e0bp-19), r, P(0x1.a0199a0c66195p-16));
  const P a4 = fma(P(0x1.ad7f6f0e24922p-26), r, P(0x1.28ad72cd4ab37p-22));
  const P q = fma(r4, fma(r4, a4, fma(r2, a3, a2)), fma(r2, a1, a0));
  const P power = __builtin_bit_cast(P, (__builtin_bit_cast(Ints, shifted) + F::bias) << F::exponent_shift);
  const P e = fma(power, fma(r2, q, r), power);
  return keep(lowest < x, select(highest < x, P(HUGE_VAL), e));
}
#else
// Fallback for device compilers, whose front end lacks support for these vector types: lane by lane.
template <class T, int W>
requires(W > 1) CAMBIUM_HF Pack<T, W> exp(Pack<T, W> x) {
  T lanes[W];
  x.store(lanes);
  for (T& lane : lanes) lane = std::exp(lane);
  return Pack<T, W>::load(lanes);
}
template <class T, int W>
requires(W > 1) CAMBIUM_HF Pack<T, W> tanh(Pack<T, W> x) {
  T lanes[W];
  x.store(lanes);
  for (T& lane : lanes) lane = std::tanh(lane);
  return Pack<T, W>::load(lanes);
}
#endif

}  // namespace cambium
