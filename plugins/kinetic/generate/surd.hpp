#pragma once
#include <cmath>
#include <cstdint>
#include <numeric>
#include <stdexcept>

namespace kinetic_generate {

/// An exact fraction, always in lowest terms with a positive denominator. Throws std::overflow_error rather than wrap.
struct Rational {
  std::int64_t num = 0, den = 1;

  Rational() = default;
  Rational(std::int64_t n, std::int64_t d = 1) { *this = reduced(n, d); }
  bool zero() const { return num == 0; }

  friend Rational operator*(Rational a, Rational b) {
    return reduced(__int128(a.num) * b.num, __int128(a.den) * b.den);
  }
  friend Rational operator+(Rational a, Rational b) {
    return reduced(__int128(a.num) * b.den + __int128(b.num) * a.den, __int128(a.den) * b.den);
  }

 private:
  static Rational reduced(__int128 n, __int128 d) {
    if (d < 0) {
      n = -n;
      d = -d;
    }
    __int128 a = n < 0 ? -n : n, b = d;
    while (b) {
      const __int128 r = a % b;
      a = b;
      b = r;
    }
    if (a > 1) {
      n /= a;
      d /= a;
    }
    if (n > INT64_MAX || n < -INT64_MAX || d > INT64_MAX) throw std::overflow_error("a fraction left 64 bits");
    Rational out;
    out.num = static_cast<std::int64_t>(n);
    out.den = static_cast<std::int64_t>(d);
    return out;
  }
};

/// factor * sqrt(root): every integral of normalised Legendre polynomials is one, and so are their products.
struct Surd {
  Rational factor, root = 1;

  Surd() = default;
  Surd(Rational f, Rational r = 1) : factor(f), root(r) {}
  bool zero() const { return factor.zero(); }
  /// Rounded once from extended precision.
  double value() const {
    const long double f = static_cast<long double>(factor.num) / factor.den;
    return static_cast<double>(f * sqrtl(static_cast<long double>(root.num) / root.den));
  }
  friend Surd operator*(const Surd& a, const Surd& b) { return {a.factor * b.factor, a.root * b.root}; }
};

}  // namespace kinetic_generate
