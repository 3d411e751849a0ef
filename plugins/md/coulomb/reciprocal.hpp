#pragma once
#include "core/base/constants.hpp"
#include "core/particles/box.hpp"

namespace cambium::md {

/// Gradients of the fractional coordinates, which give wave vectors k = 2 pi (m_0 g_0 + m_1 g_1 + m_2 g_2).
struct Reciprocal {
  double g[3][3] = {};  ///< 1/Å

  Reciprocal() = default;
  explicit Reciprocal(const Box& box) {
    const auto& h = box.h;
    g[0][0] = 1.0 / h[0][0];
    g[0][1] = -h[1][0] / (h[1][1] * h[0][0]);
    g[0][2] = (h[1][0] * h[2][1] / h[1][1] - h[2][0]) / (h[2][2] * h[0][0]);
    g[1][1] = 1.0 / h[1][1];
    g[1][2] = -h[2][1] / (h[2][2] * h[1][1]);
    g[2][2] = 1.0 / h[2][2];
  }

  /// Returns k^2 (1/Å^2).
  KOKKOS_INLINE_FUNCTION double wave(double m0, double m1, double m2, double k[3]) const {
    double square = 0.0;
    for (int a = 0; a < 3; ++a) {
      k[a] = 2.0 * constants::pi * (m0 * g[0][a] + m1 * g[1][a] + m2 * g[2][a]);
      square += k[a] * k[a];
    }
    return square;
  }
};

/// -dE/d(strain) of the energy exp(-k^2/(4 alpha^2)) / (k^2 V), over that energy, by components xx, yy, zz, xy, xz, yz.
KOKKOS_INLINE_FUNCTION double wave_virial(int component, const double k[3], double square, double alpha) {
  const int a = component < 3    ? component
                : component == 5 ? 1
                                 : 0,
            b = component < 3    ? component
                : component == 3 ? 1
                                 : 2;
  return (a == b ? 1.0 : 0.0) - 2.0 * k[a] * k[b] * (1.0 / square + 0.25 / (alpha * alpha));
}

}  // namespace cambium::md
