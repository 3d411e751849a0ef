#include "plugins/md/coulomb/ewald_error.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/constants.hpp"

namespace cambium::md {

namespace {

using constants::pi;
constexpr int most_points = 1024;

/// Smallest x with f(x) <= bound, for a decreasing f; x is doubled from `first`, then bisected.
template <class F>
double first_below(double first, double bound, const F& f) {
  double low = first, high = first;
  while (f(high) > bound && high < 1e6) low = high, high *= 2.0;
  for (int k = 0; k < 50 && f(low) > bound; ++k) {
    const double middle = 0.5 * (low + high);
    (f(middle) > bound ? low : high) = middle;
  }
  return high;
}

/// Squared relative error of a wave with nu = k / (2 pi points) from spreading charges and from the gradient of the
/// splines, due to its aliases nu + m.
double aliasing(double nu, int order) {
  double squares = 0.0, sum = 0.0;
  for (const int m : {-2, -1, 1, 2}) {
    const double ratio = nu / (nu + m), power = std::pow(ratio, order);
    sum += power;
    squares += power * power * (1.0 + 1.0 / (ratio * ratio));
  }
  return std::min(1.0, squares + 2.0 * sum * sum);
}

bool is_smooth(int n) {
  for (const int prime : {2, 3, 5, 7})
    while (n % prime == 0) n /= prime;
  return n == 1;
}

int points_for(double edge, double spacing, int order) {
  int n = std::max(order, 2 * static_cast<int>(std::ceil(0.5 * edge / spacing)));
  while (!is_smooth(n)) n += 2;
  return n;
}

}  // namespace

double real_space_error(const ChargedCell& cell, double alpha, double cutoff) {
  const double x = alpha * cutoff;
  return 2.0 * cell.squares / std::sqrt(cell.count * cutoff * cell.volume) * std::exp(-x * x);
}

double wave_sum_error(const ChargedCell& cell, double alpha, double k_max) {
  // Forces of waves k with random phases: (4 pi q / V)^2 sum(q^2) sum_k exp(-k^2/(2 alpha^2)) / k^2.
  const double beyond = std::sqrt(0.5 * pi) * alpha * std::erfc(k_max / (std::sqrt(2.0) * alpha));
  return cell.squares * 4.0 * pi / cell.volume * std::sqrt(cell.volume / (2.0 * pi * pi) * beyond / cell.count);
}

double mesh_error(const ChargedCell& cell, double alpha, const std::array<int, 3>& mesh, int order) {
  // The same sum with a weight that depends on one component of k; the integral over the other two is pi E1.
  double sum = 0.0;
  for (int d = 0; d < 3; ++d) {
    const double nyquist = pi * mesh[d] / cell.edges[d], last = 12.0 * alpha;
    constexpr int steps = 96;
    const double step = last / steps;
    for (int s = 0; s < steps; ++s) {
      const double k = (s + 0.5) * step, t = k / alpha;
      const double weight = k < nyquist ? aliasing(0.5 * k / nyquist, order) : 1.0;
      sum += 2.0 * step * weight * pi * -std::expint(-0.5 * t * t);
    }
  }
  return cell.squares * 4.0 * pi / cell.volume * std::sqrt(cell.volume / (8.0 * pi * pi * pi) * sum / cell.count);
}

double choose_alpha(const ChargedCell& cell, double cutoff, double error) {
  return first_below(0.5 / cutoff, error, [&](double alpha) { return real_space_error(cell, alpha, cutoff); });
}

double choose_k_max(const ChargedCell& cell, double alpha, double error) {
  return first_below(0.5 * alpha, error, [&](double k) { return wave_sum_error(cell, alpha, k); });
}

std::array<int, 3> choose_mesh(const ChargedCell& cell, double alpha, int order, double error) {
  std::array<int, 3> mesh{};
  const auto of = [&](double per_angstrom) {
    for (int d = 0; d < 3; ++d) mesh[d] = points_for(cell.edges[d], 1.0 / per_angstrom, order);
    return mesh;
  };
  const double finest = most_points / *std::max_element(cell.edges.begin(), cell.edges.end());
  const double density = first_below(0.25, error, [&](double per_angstrom) {
    return per_angstrom > finest ? 0.0 : mesh_error(cell, alpha, of(per_angstrom), order);
  });
  if (density > finest) return {};
  return of(density);
}

}  // namespace cambium::md
