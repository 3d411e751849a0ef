#include "core/particles/given_axes.hpp"

#include <algorithm>
#include <cmath>

namespace cambium {

GivenAxes::GivenAxes(const double rotation[3][3]) { std::copy_n(&rotation[0][0], 9, &q[0][0]); }

bool GivenAxes::turned() const {
  for (int r = 0; r < 3; ++r)
    for (int k = 0; k < 3; ++k)
      if (q[r][k] != (r == k ? 1.0 : 0.0)) return true;
  return false;
}

std::array<double, 3> GivenAxes::vector(const double x[3]) const {
  std::array<double, 3> out{x[0], x[1], x[2]};
  if (turned())
    for (int k = 0; k < 3; ++k) out[k] = x[0] * q[k][0] + x[1] * q[k][1] + x[2] * q[k][2];
  return out;
}

std::array<double, 3> GivenAxes::inside(const double x[3]) const {
  std::array<double, 3> out{x[0], x[1], x[2]};
  if (turned())
    for (int k = 0; k < 3; ++k) out[k] = x[0] * q[0][k] + x[1] * q[1][k] + x[2] * q[2][k];
  return out;
}

std::array<double, 9> GivenAxes::tensor(const double w[9]) const {
  std::array<double, 9> out, half;
  std::copy_n(w, 9, out.begin());
  if (!turned()) return out;
  for (int r = 0; r < 3; ++r)  // w Q^T, then Q (w Q^T)
    for (int k = 0; k < 3; ++k) half[3 * r + k] = w[3 * r] * q[k][0] + w[3 * r + 1] * q[k][1] + w[3 * r + 2] * q[k][2];
  for (int r = 0; r < 3; ++r)
    for (int k = 0; k < 3; ++k) out[3 * r + k] = q[r][0] * half[k] + q[r][1] * half[3 + k] + q[r][2] * half[6 + k];
  return out;
}

std::array<double, 9> GivenAxes::cell(const Box& box) const {
  std::array<double, 9> out;
  for (int r = 0; r < 3; ++r) {
    const auto row = vector(box.h[r]);
    const double least = turned() ? 4e-16 * std::hypot(row[0], row[1], row[2]) : 0.0;
    for (int k = 0; k < 3; ++k) out[3 * r + k] = std::abs(row[k]) <= least ? 0.0 : row[k];
  }
  return out;
}

GivenAxes GivenAxes::then(const double rotation[3][3]) const {
  GivenAxes out;
  for (int r = 0; r < 3; ++r)
    for (int k = 0; k < 3; ++k)
      out.q[r][k] = q[r][0] * rotation[0][k] + q[r][1] * rotation[1][k] + q[r][2] * rotation[2][k];
  return out;
}

}  // namespace cambium
