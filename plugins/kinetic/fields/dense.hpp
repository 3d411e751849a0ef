#pragma once
#include <cmath>
#include <complex>
#include <utility>
#include <vector>

namespace cambium::kinetic {

/// Inverse of a small row-major matrix, by Gauss-Jordan with pivoting.
template <class Number>
std::vector<Number> inverse(std::vector<Number> a, int n) {
  std::vector<Number> out(n * n, Number(0));
  for (int i = 0; i < n; ++i) out[i * n + i] = Number(1);
  for (int c = 0; c < n; ++c) {
    int pivot = c;
    for (int r = c + 1; r < n; ++r)
      if (std::abs(a[r * n + c]) > std::abs(a[pivot * n + c])) pivot = r;
    for (int k = 0; k < n; ++k)
      std::swap(a[c * n + k], a[pivot * n + k]), std::swap(out[c * n + k], out[pivot * n + k]);
    const Number scale = Number(1) / a[c * n + c];
    for (int k = 0; k < n; ++k) {
      a[c * n + k] *= scale;
      out[c * n + k] *= scale;
    }
    for (int r = 0; r < n; ++r) {
      if (r == c) continue;
      const Number factor = a[r * n + c];
      for (int k = 0; k < n; ++k) {
        a[r * n + k] -= factor * a[c * n + k];
        out[r * n + k] -= factor * out[c * n + k];
      }
    }
  }
  return out;
}

}  // namespace cambium::kinetic
