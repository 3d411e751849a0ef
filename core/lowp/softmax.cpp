#include "core/lowp/softmax.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/pack.hpp"

namespace cambium::lowp {
namespace {

constexpr int width = native_width<float>;
using Numbers = Pack<float, width>;
constexpr float lowest = -8e6f;       ///< below this, exp() of the difference to any number that matters is 0
constexpr std::int64_t block = 4096;  ///< numbers that are added lane by lane

#if defined(__AVX512F__)
Numbers nearest(Numbers x) { return _mm512_maskz_roundscale_ps(0xffff, x.v, 0); }
/// x 2^k for whole k <= 0.
Numbers times_power(Numbers x, Numbers k) { return _mm512_maskz_scalef_ps(0xffff, x.v, k.v); }
/// Not-a-number stays.
Numbers at_least_lowest(Numbers x) { return _mm512_maskz_max_ps(0xffff, Numbers(lowest).v, x.v); }
#else
Numbers nearest(Numbers x) {
  float values[width];
  x.store(values);
  for (float& v : values) v = std::rint(v);
  return Numbers::load(values);
}
Numbers times_power(Numbers x, Numbers k) {
  float values[width], powers[width];
  x.store(values);
  k.store(powers);
  for (int j = 0; j < width; ++j) values[j] = std::ldexp(values[j], static_cast<int>(std::max(powers[j], -300.0f)));
  return Numbers::load(values);
}
Numbers at_least_lowest(Numbers x) { return select(x < Numbers(lowest), Numbers(lowest), x); }
#endif

/// exp(x) = (leading + tail) 2^exponent, the sum between 0.70 and 1.42 and exact to a few 2^-29. The polynomial has the
/// least largest relative error on half a binade, 3.1e-9 (weighted least squares, Lawson's iteration).
struct Exponential {
  Numbers leading, tail, exponent;
  Numbers mantissa() const { return leading + tail; }
};
inline Exponential exponential(Numbers x) {
  const Numbers n = nearest(x * Numbers(0x1.715476p+0f));
  Numbers t = fma(n, Numbers(-0x1.62e400p-1f), x);  // 15 bits of ln 2: the product is exact
  t = fma(n, Numbers(-0x1.7f7d1cp-20f), t);
  Numbers p = Numbers(0x1.6a2352p-10f);
  p = fma(p, t, Numbers(0x1.123a6cp-7f));
  p = fma(p, t, Numbers(0x1.5558f4p-5f));
  p = fma(p, t, Numbers(0x1.555490p-3f));
  p = fma(p, t, Numbers(0x1.fffffcp-2f));
  const Numbers one = 1.0f, leading = one + t;
  return {leading, fma(p, t * t, t - (leading - one)), n};
}

/// f(numbers, first index, valid) over x[0..n-1]; what is missing in the last pack is -infinity.
template <class F>
void for_each_pack(const float* x, std::int64_t n, F&& f) {
  std::int64_t k = 0;
  for (; k + width <= n; k += width) f(Numbers::load(x + k), k, width);
  if (k == n) return;
  float rest[width];
  std::fill_n(rest, width, -std::numeric_limits<float>::infinity());
  std::copy(x + k, x + n, rest);
  f(Numbers::load(rest), k, static_cast<int>(n - k));
}
void store(Numbers y, float* to, int valid) {
  if (valid == width) return y.store(to);
  float values[width];
  y.store(values);
  std::copy_n(values, valid, to);
}

/// A sum of exponentials: value 2^exponent.
struct BigSum {
  double value = 0.0, exponent = -std::numeric_limits<double>::infinity();

  void add(double v, double e) {
    if (!(e > exponent)) {
      value += v * std::exp2(e - exponent);
      return;
    }
    value = (exponent == -std::numeric_limits<double>::infinity() ? 0.0 : value * std::exp2(exponent - e)) + v;
    exponent = e;
  }
};

/// In every lane (value + rest) 2^exponent; `rest` is what additions rounded off (Knuth's two-sum). Equal numbers would
/// otherwise all round the same way, and the sum of a few thousand miss its last two places.
struct LaneSums {
  Numbers value = 0.0f, rest = 0.0f, exponent = 2 * lowest;

  void add(const Exponential& a, const Exponential& b, const Exponential& c, const Exponential& d) {
    const Numbers e = max(max(max(a.exponent, b.exponent), max(c.exponent, d.exponent)), exponent);
    const Numbers four = (times_power(a.mantissa(), a.exponent - e) + times_power(b.mantissa(), b.exponent - e)) +
                         (times_power(c.mantissa(), c.exponent - e) + times_power(d.mantissa(), d.exponent - e));
    const Numbers old = times_power(value, exponent - e);
    value = old + four;
    const Numbers part = value - old;
    rest = times_power(rest, exponent - e) + ((old - (value - part)) + (four - part));
    exponent = e;
  }
};

Exponential limited(Numbers x) { return exponential(at_least_lowest(x)); }

/// Sum of up to `block` exponentials. Four packs share one change of the common exponent.
void add_block(const float* x, std::int64_t n, BigSum& sum) {
  LaneSums sums;
  std::int64_t k = 0;
  for (; k + 4 * width <= n; k += 4 * width) {
    const float* at = x + k;
    sums.add(limited(Numbers::load(at)), limited(Numbers::load(at + width)), limited(Numbers::load(at + 2 * width)),
             limited(Numbers::load(at + 3 * width)));
  }
  const Exponential nothing{Numbers(0.0f), Numbers(0.0f), Numbers(2 * lowest)};
  for_each_pack(x + k, n - k, [&](Numbers v, std::int64_t, int) { sums.add(limited(v), nothing, nothing, nothing); });
  for (int j = 0; j < width; ++j) sum.add(static_cast<double>(sums.value[j]) + sums.rest[j], sums.exponent[j]);
}

/// y = exp(x - shift) / (value 2^exponent), value between 1 and 2. The reciprocal is kept as a sum of two floats.
void divide(const float* x, std::int64_t n, float shift, double value, double exponent, float* y) {
  const double reciprocal = 1.0 / value;
  const Numbers high = static_cast<float>(reciprocal),
                low = static_cast<float>(reciprocal - static_cast<float>(reciprocal));
  const Numbers power = static_cast<float>(exponent), from = shift;
  for_each_pack(x, n, [&](Numbers v, std::int64_t k, int valid) {
    const Exponential a = exponential(at_least_lowest(v - from));
    store(times_power(fma(a.leading, high, fma(a.tail, high, a.leading * low)), a.exponent - power), y + k, valid);
  });
}

void normalise(double& value, double& exponent) {
  int shift = 0;
  value = 2.0 * std::frexp(value, &shift);
  exponent += shift - 1;
}

void fill_nan(float* y, std::int64_t n) { std::fill_n(y, n, std::numeric_limits<float>::quiet_NaN()); }

}  // namespace

void softmax(const float* x, std::int64_t n, float* y) {
  if (n <= 0) return;
  BigSum sum;
  for (std::int64_t k = 0; k < n; k += block) add_block(x + k, std::min(block, n - k), sum);
  // In units of ln 2: beyond, whole exponents and the lower limit are no longer safe.
  if (!(std::abs(sum.exponent) < 1e7) || !std::isfinite(sum.value)) return softmax_three_passes(x, n, y);
  normalise(sum.value, sum.exponent);
  divide(x, n, 0.0f, sum.value, sum.exponent, y);
}

void softmax_three_passes(const float* x, std::int64_t n, float* y) {
  if (n <= 0) return;
  Numbers most[4];
  for (auto& m : most) m = Numbers(-std::numeric_limits<float>::infinity());
  std::int64_t k = 0;
  for (; k + 4 * width <= n; k += 4 * width)
    for (int j = 0; j < 4; ++j) most[j] = max(most[j], Numbers::load(x + k + j * width));
  for_each_pack(x + k, n - k, [&](Numbers v, std::int64_t, int) { most[0] = max(most[0], v); });
  const Numbers all = max(max(most[0], most[1]), max(most[2], most[3]));
  float largest = all[0];
  for (int j = 1; j < width; ++j) largest = std::max(largest, all[j]);
  if (!std::isfinite(largest)) return fill_nan(y, n);
  double sum = 0.0;
  const Numbers from = largest;
  for (std::int64_t begin = 0; begin < n; begin += block) {
    Numbers part[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    int turn = 0;
    for_each_pack(x + begin, std::min(block, n - begin), [&](Numbers v, std::int64_t, int) {
      const Exponential a = exponential(at_least_lowest(v - from));
      part[turn] += times_power(a.mantissa(), a.exponent);
      turn = (turn + 1) % 4;
    });
    for (const auto& p : part)
      for (int j = 0; j < width; ++j) sum += p[j];
  }
  if (!std::isfinite(sum)) return fill_nan(y, n);
  double exponent = 0.0;
  normalise(sum, exponent);
  divide(x, n, largest, sum, exponent, y);
}

}  // namespace cambium::lowp
