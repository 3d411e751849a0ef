#pragma once
// State spaces, networks and random numbers for tests of filters.
#include <cmath>
#include <random>
#include <vector>

#include "plugins/assimilate/observations/network.hpp"

namespace cambium::assimilate::test {

/// One field "x" at 0, 1, ..., n - 1; around a circle when `periodic`.
inline StateSpace line(std::size_t n, bool periodic) {
  StateSpace out;
  for (std::size_t i = 0; i < n; ++i) out.x.push_back(static_cast<double>(i));
  out.z = {0.0};
  out.period = periodic ? static_cast<double>(n) : 0.0;
  out.span_x = {0.0, static_cast<double>(n)};
  out.span_z = {0.0, 0.0};
  out.fields = {{"x", "values on a line", out.x, out.z}};
  return out;
}

/// Centres of nx x nz cells of a box 2 x 1, u on left faces, w on lower faces, b at centres.
inline StateSpace staggered(std::size_t nx, std::size_t nz, bool periodic) {
  StateSpace out;
  StateSpace::Field u{"u", "velocity along x"}, w{"w", "velocity along z"}, b{"b", "buoyancy"};
  for (std::size_t i = 0; i < nx; ++i) {
    u.x.push_back(2.0 * static_cast<double>(i) / static_cast<double>(nx));
    out.x.push_back(2.0 * (static_cast<double>(i) + 0.5) / static_cast<double>(nx));
  }
  for (std::size_t k = 0; k < nz; ++k) {
    w.z.push_back(static_cast<double>(k) / static_cast<double>(nz));
    out.z.push_back((static_cast<double>(k) + 0.5) / static_cast<double>(nz));
  }
  u.z = b.z = out.z;
  w.x = b.x = out.x;
  w.wall_below = true;
  u.wall_at_left = !periodic;
  out.period = periodic ? 2.0 : 0.0;
  out.span_x = {0.0, 2.0};
  out.span_z = {0.0, 1.0};
  out.fields = {u, w, b};
  return out;
}

inline std::vector<double> normals(std::size_t count, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> normal;
  std::vector<double> out(count);
  for (double& value : out) value = normal(engine);
  return out;
}

}  // namespace cambium::assimilate::test
