#include "core/particles/box.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/base/error.hpp"

namespace cambium {

Box Box::orthogonal(double lx, double ly, double lz) {
  const double rows[3][3] = {{lx, 0, 0}, {0, ly, 0}, {0, 0, lz}};
  return from_vectors(rows);
}

Box Box::from_vectors(const double m[3][3], double rotation[3][3]) {
  auto dot = [](const double* a, const double* b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; };
  const double cross[3] = {m[0][1] * m[1][2] - m[0][2] * m[1][1], m[0][2] * m[1][0] - m[0][0] * m[1][2],
                           m[0][0] * m[1][1] - m[0][1] * m[1][0]};
  const double volume = dot(cross, m[2]);
  if (!(volume > 0.0))
    throw InputError(
        fmt::format("the cell vectors ({} {} {}), ({} {} {}), ({} {} {}) are flat or left-handed (volume {:g}): give "
                    "three independent vectors in right-handed order",
                    m[0][0], m[0][1], m[0][2], m[1][0], m[1][1], m[1][2], m[2][0], m[2][1], m[2][2], volume));
  // Gram-Schmidt: rows of e are the new axes in the old frame.
  double e[3][3];
  const double la = std::sqrt(dot(m[0], m[0]));
  for (int k = 0; k < 3; ++k) e[0][k] = m[0][k] / la;
  const double bx = dot(m[1], e[0]);
  double rest[3];
  for (int k = 0; k < 3; ++k) rest[k] = m[1][k] - bx * e[0][k];
  const double left = dot(rest, e[0]);  // rounding, which a b nearly along a would make large in the rotation
  for (int k = 0; k < 3; ++k) rest[k] -= left * e[0][k];
  const double by = std::sqrt(dot(rest, rest));
  for (int k = 0; k < 3; ++k) e[1][k] = rest[k] / by;
  e[2][0] = e[0][1] * e[1][2] - e[0][2] * e[1][1];
  e[2][1] = e[0][2] * e[1][0] - e[0][0] * e[1][2];
  e[2][2] = e[0][0] * e[1][1] - e[0][1] * e[1][0];
  Box box;
  box.h[0][0] = la;
  box.h[1][0] = bx;
  box.h[1][1] = by;
  for (int k = 0; k < 3; ++k) box.h[2][k] = dot(m[2], e[k]);
  // Cells given in lower-triangular form are kept bitwise.
  if (m[0][1] == 0.0 && m[0][2] == 0.0 && m[1][2] == 0.0 && m[0][0] > 0.0 && m[1][1] > 0.0)
    for (int r = 0; r < 3; ++r)
      for (int k = 0; k < 3; ++k) box.h[r][k] = m[r][k], e[r][k] = r == k ? 1.0 : 0.0;
  if (rotation)
    for (int r = 0; r < 3; ++r)
      for (int k = 0; k < 3; ++k) rotation[r][k] = e[k][r];
  return box;
}

std::array<double, 3> Box::heights() const {
  auto cross_norm = [](const double* a, const double* b) {
    const double x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2], z = a[0] * b[1] - a[1] * b[0];
    return std::sqrt(x * x + y * y + z * z);
  };
  const double v = volume();
  return {v / cross_norm(h[1], h[2]), v / cross_norm(h[2], h[0]), v / cross_norm(h[0], h[1])};
}

}  // namespace cambium
