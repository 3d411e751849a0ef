#pragma once
#include <cstdint>

namespace cambium::lowp {

/// Weights of up to four values at -3, -1, 1, 3 spacings along one dimension.
template <class T>
struct Stencil {
  T at[4] = {0, 0, 0, 0};
};

/// Interpolation at index i of n values with spacing s; points outside are left out (of four values three, two or one
/// remain; the latter are extrapolated).
template <class T>
Stencil<T> stencil_at(std::int64_t i, std::int64_t s, std::int64_t n, bool cubic, T weight) {
  const bool right = i + s < n, left3 = i >= 3 * s, right3 = i + 3 * s < n;
  Stencil<T> w;
  auto set = [&](double a, double b, double c, double d) {
    w = {{T(a) * weight, T(b) * weight, T(c) * weight, T(d) * weight}};
  };
  if (!right)
    left3 ? set(-0.5, 1.5, 0, 0) : set(0, 1, 0, 0);
  else if (cubic && left3 && right3)
    set(-0.0625, 0.5625, 0.5625, -0.0625);
  else if (cubic && right3)
    set(0, 0.375, 0.75, -0.125);
  else if (cubic && left3)
    set(-0.125, 0.75, 0.375, 0);
  else
    set(0, 0.5, 0.5, 0);
  return w;
}

/// Sum of a stencil around `x`, reading only values with a weight.
template <class T>
T apply(const Stencil<T>& w, const T* x, std::int64_t distance) {
  T sum = 0;
  for (int t = 0; t < 4; ++t)
    if (w.at[t] != 0) sum += w.at[t] * x[(2 * t - 3) * distance];
  return sum;
}

}  // namespace cambium::lowp
