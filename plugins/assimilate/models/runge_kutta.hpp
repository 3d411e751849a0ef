#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "core/base/error.hpp"

namespace cambium::assimilate {

/// Advances x by dx/dt = slope(x) from one time to another, in equal steps of at most `longest`, by the classical
/// Runge-Kutta method of fourth order. slope(in, out) fills out. NumericalError naming `model` when a number is not
/// finite at the end.
template <class Slope>
void runge_kutta(std::span<double> x, double from, double to, double longest, const char* model, const Slope& slope) {
  const auto n = x.size();
  const auto steps = static_cast<long>(std::ceil((to - from) / longest - 1e-6));
  const double dt = steps > 0 ? (to - from) / static_cast<double>(steps) : 0.0;
  std::vector<double> k(n), at(n), sum(n);
  const std::span<const double> here(at);
  for (long step = 0; step < steps; ++step) {
    at.assign(x.begin(), x.end());
    sum = at;
    for (int stage = 0; stage < 4; ++stage) {
      slope(here, std::span(k));
      const double ahead = stage == 2 ? dt : 0.5 * dt, weight = (stage == 1 || stage == 2 ? dt / 3.0 : dt / 6.0);
      for (std::size_t i = 0; i < n; ++i) {
        sum[i] += weight * k[i];
        at[i] = x[i] + ahead * k[i];
      }
    }
    std::copy(sum.begin(), sum.end(), x.begin());
  }
  for (const double value : x)
    if (!std::isfinite(value))
      throw NumericalError(
          fmt::format("{} does not stay finite between t = {:.6g} and {:.6g}; take a smaller "
                      "'timestep', or a filter whose analyses stay near the attractor",
                      model, from, to));
}

}  // namespace cambium::assimilate
