#pragma once
#include <cmath>
#include <vector>

#include "core/base/pack.hpp"

namespace cambium::md {

/// Spherical harmonics of a direction (x, y, z) as polynomials, Y_lm = N_lm d^m P_l(z)/dz^m (x + i y)^m for m >= 0,
/// without N_lm. The 2l + 1 values of degree l begin at l*l: real parts of m = 0..l, then imaginary parts of m = 1..l.
template <class P>
class PaceShapes {
 public:
  explicit PaceShapes(int l_max)
      : l_(l_max), values_((l_max + 1) * (l_max + 1)), legendre_((l_max + 2) * (l_max + 2)), real_(l_max + 1),
        imaginary_(l_max + 1) {}

  static int real(int l, int m) { return l * l + m; }
  static int imaginary(int l, int m) { return l * l + l + m; }
  /// N_lm with Y_00 = 1 and the Condon-Shortley phase.
  static double norm(int l, int m) {
    double square = 2.0 * l + 1.0;
    for (int k = l - m + 1; k <= l + m; ++k) square /= k;
    return (m % 2 == 0 ? 1.0 : -1.0) * std::sqrt(square);
  }

  /// Computes degrees 0 to l.
  void set(P x, P y, P z, int l_max) {
    used_ = l_max;
    legendre(z);
    real_[0] = 1.0;
    imaginary_[0] = 0.0;
    for (int m = 1; m <= used_; ++m) {
      real_[m] = fma(real_[m - 1], x, -(imaginary_[m - 1] * y));
      imaginary_[m] = fma(imaginary_[m - 1], x, real_[m - 1] * y);
    }
    for (int l = 0; l <= used_; ++l)
      for (int m = 0; m <= l; ++m) {
        values_[real(l, m)] = at(l, m) * real_[m];
        if (m > 0) values_[imaginary(l, m)] = at(l, m) * imaginary_[m];
      }
  }
  const P* values() const { return values_.data(); }

  /// Gradient t with respect to x, y and z of the sum of h times the values.
  void gradient(const P* h, P* t) const {
    t[0] = t[1] = t[2] = 0.0;
    for (int m = 0; m <= used_; ++m) {
      P a = 0.0, b = 0.0, a_slope = 0.0, b_slope = 0.0;
      for (int l = m; l <= used_; ++l) {
        a = fma(h[real(l, m)], at(l, m), a);
        a_slope = fma(h[real(l, m)], at(l, m + 1), a_slope);
        if (m == 0) continue;
        b = fma(h[imaginary(l, m)], at(l, m), b);
        b_slope = fma(h[imaginary(l, m)], at(l, m + 1), b_slope);
      }
      t[2] = fma(a_slope, real_[m], fma(b_slope, imaginary_[m], t[2]));
      if (m == 0) continue;
      const P re = P(static_cast<double>(m)) * real_[m - 1], im = P(static_cast<double>(m)) * imaginary_[m - 1];
      t[0] = fma(a, re, fma(b, im, t[0]));
      t[1] = fma(b, re, fma(-a, im, t[1]));
    }
  }

 private:
  const P& at(int l, int m) const { return legendre_[m * (l_ + 2) + l]; }

  /// Derivatives of Legendre polynomials with respect to z, of orders 0 to l + 1, the last of which is 0.
  void legendre(P z) {
    const auto entry = [&](int l, int m) -> P& { return legendre_[m * (l_ + 2) + l]; };
    P diagonal = 1.0;
    for (int m = 0; m <= used_ + 1; ++m) {
      if (m > 0) entry(m - 1, m) = 0.0;
      if (m > used_) break;
      if (m > 0) diagonal *= P(2.0 * m - 1.0);
      entry(m, m) = diagonal;
      for (int l = m + 1; l <= used_; ++l) {
        const P before = l - 2 >= m ? entry(l - 2, m) : P(0.0);
        entry(l, m) = P(1.0 / (l - m)) * fma(P(2.0 * l - 1.0) * z, entry(l - 1, m), P(1.0 - l - m) * before);
      }
    }
  }

  int l_, used_ = 0;
  std::vector<P> values_, legendre_, real_, imaginary_;
};

}  // namespace cambium::md
