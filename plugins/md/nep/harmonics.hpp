#pragma once
#include <array>
#include <cmath>

#include "core/base/constants.hpp"
#include "core/base/pack.hpp"

namespace cambium::md {

/// Real spherical harmonics of degrees 1 to L, orthonormal up to their factors norm(l, m), as polynomials of a unit
/// vector: degree l begins at l^2 - 1 with m = 0, then cos and sin of m = 1, ..., l. They are d^m P_l(z)/dz^m times
/// real and imaginary part of (x + i y)^m.
template <int L>
struct Harmonics {
  static constexpr int count = (L + 1) * (L + 1) - 1;

  /// Factors that make them orthonormal, in the same order.
  static std::array<double, count> norms() {
    std::array<double, count> out{};
    for (int l = 1; l <= L; ++l) {
      double ratio = 1.0;  // (l - m)! / (l + m)!
      for (int m = 0; m <= l; ++m) {
        if (m > 0) ratio /= (l - m + 1.0) * (l + m);
        const double norm = std::sqrt((2 * l + 1) / (4.0 * constants::pi) * ratio * (m > 0 ? 2.0 : 1.0));
        if (m == 0) out[l * l - 1] = norm;
        if (m > 0) out[l * l - 2 + 2 * m] = out[l * l - 1 + 2 * m] = norm;
      }
    }
    return out;
  }

  /// Derivatives of Legendre polynomials and powers of x + i y.
  template <class P>
  struct Parts {
    P legendre[L + 1][L + 2];  ///< (l, m); 0 for m > l
    P real[L + 1], imaginary[L + 1];

    CAMBIUM_FN Parts(P x, P y, P z) {
      for (auto& row : legendre)
        for (P& entry : row) entry = 0.0;
      legendre[0][0] = 1.0;
      for (int m = 0; m <= L; ++m) {
        if (m > 0) legendre[m][m] = P(2.0 * m - 1.0) * legendre[m - 1][m - 1];
        for (int l = m + 1; l <= L; ++l) {
          const P before = l > m + 1 ? legendre[l - 2][m] : P(0.0);
          legendre[l][m] = (P(2.0 * l - 1.0) * z * legendre[l - 1][m] - P(l + m - 1.0) * before) * P(1.0 / (l - m));
        }
      }
      real[0] = 1.0;
      imaginary[0] = 0.0;
      for (int m = 1; m <= L; ++m) {
        real[m] = x * real[m - 1] - y * imaginary[m - 1];
        imaginary[m] = x * imaginary[m - 1] + y * real[m - 1];
      }
    }
  };

  template <class P>
  CAMBIUM_FN static void values(const Parts<P>& p, P* out) {
    for (int l = 1; l <= L; ++l) {
      out[l * l - 1] = p.legendre[l][0];
      for (int m = 1; m <= l; ++m) {
        out[l * l - 2 + 2 * m] = p.legendre[l][m] * p.real[m];
        out[l * l - 1 + 2 * m] = p.legendre[l][m] * p.imaginary[m];
      }
    }
  }

  /// Gradient of sum h_k Y_k with respect to x, y and z, as polynomials of three independent variables.
  template <class P>
  CAMBIUM_FN static void gradient(const Parts<P>& p, const P* h, P* out) {
    P gx = 0.0, gy = 0.0, gz = 0.0;
    for (int l = 1; l <= L; ++l) {
      gz = fma(h[l * l - 1], p.legendre[l][1], gz);
      for (int m = 1; m <= l; ++m) {
        const P c = h[l * l - 2 + 2 * m], s = h[l * l - 1 + 2 * m];
        const P weight = P(static_cast<double>(m)) * p.legendre[l][m];
        gx = fma(weight, fma(c, p.real[m - 1], s * p.imaginary[m - 1]), gx);
        gy = fma(weight, fma(s, p.real[m - 1], -(c * p.imaginary[m - 1])), gy);
        gz = fma(p.legendre[l][m + 1], fma(c, p.real[m], s * p.imaginary[m]), gz);
      }
    }
    out[0] = gx;
    out[1] = gy;
    out[2] = gz;
  }
};

}  // namespace cambium::md
