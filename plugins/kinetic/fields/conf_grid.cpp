#include "plugins/kinetic/fields/conf_grid.hpp"

#include <algorithm>
#include <cmath>

namespace cambium::kinetic {

int ConfGrid::highest() const {
  int n = 0;
  for (const auto& e : exponents) n = std::max(n, *std::max_element(e.begin(), e.end()));
  return n;
}

int ConfGrid::neighbour(int cell, int d, int step) const {
  auto at = place(cell);
  at[d] += step;
  if (at[d] < 0 || at[d] >= cells[d]) {
    if (low_wall[d] != Wall::periodic) return -1;
    at[d] = (at[d] + cells[d]) % cells[d];
  }
  return index(at);
}

double ConfGrid::integral(const double* a) const {
  double sum = 0.0;
  for (int i = 0; i < count(); ++i) sum += a[static_cast<std::size_t>(i) * modes()];
  for (int d = 0; d < dimensions; ++d) sum *= width[d] * std::sqrt(0.5);
  return sum;
}

double ConfGrid::product_integral(const double* a, const double* b) const {
  double sum = 0.0;
  for (std::size_t k = 0; k < size(); ++k) sum += a[k] * b[k];
  for (int d = 0; d < dimensions; ++d) sum *= 0.5 * width[d];
  return sum;
}

ConfGrid conf_grid(const PhaseGrid& phase, const std::vector<std::vector<int>>& exponents) {
  ConfGrid g;
  g.dimensions = phase.cdim;
  g.exponents = exponents;
  for (int d = 0; d < phase.cdim; ++d) {
    const Axis& a = phase.axis[d];
    g.cells[d] = a.cells, g.lower[d] = a.lower, g.width[d] = a.width();
    g.low_wall[d] = a.low_wall, g.high_wall[d] = a.high_wall;
  }
  return g;
}

}  // namespace cambium::kinetic
