#include "plugins/kinetic/fields/conf_grid.hpp"

#include <algorithm>
#include <cmath>

namespace cambium::kinetic {

int ConfGrid::highest() const {
  int n = 0;
  for (const auto& e : exponents) n = std::max(n, *std::max_element(e.begin(), e.end()));
  return n;
}

ConfGrid ConfGrid::whole() const {
  ConfGrid out = *this;
  out.first = out.part = {0, 0, 0};
  return out;
}

int ConfGrid::own_index(const std::array<int, 3>& at) const {
  int out = 0;
  for (int d = 0; d < 3; ++d) {
    if (at[d] < first[d] || at[d] >= first[d] + own(d)) return -1;
    out = out * own(d) + at[d] - first[d];
  }
  return out;
}

int ConfGrid::neighbour(int cell, int d, int step) const {
  auto at = local(cell);
  at[d] += step;
  if (at[d] < 0 || at[d] >= own(d)) {
    const int there = first[d] + at[d];
    if ((there < 0 || there >= cells[d]) && low_wall[d] != Wall::periodic) return -1;
    if (divided(d)) {
      int along = 0;
      for (int e = 0; e < 3; ++e)
        if (e != d) along = along * own(e) + at[e];
      return first_ghost(d, step > 0) + along;
    }
    at[d] = (at[d] + cells[d]) % cells[d];
  }
  return (at[0] * own(1) + at[1]) * own(2) + at[2];
}

int ConfGrid::first_ghost(int d, bool high) const {
  int out = count();
  for (int e = 0; e < d; ++e) out += divided(e) ? 2 * face(e) : 0;
  return out + (high ? face(d) : 0);
}

int ConfGrid::ghosts() const { return first_ghost(3, false) - count(); }

std::vector<int> ConfGrid::side(int d, bool high) const {
  std::vector<int> out;
  for (int cell = 0; cell < count(); ++cell)
    if (local(cell)[d] == (high ? own(d) - 1 : 0)) out.push_back(cell);
  return out;
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
    g.first[d] = a.first;
    g.part[d] = a.count;
    g.cells[d] = a.cells;
    g.lower[d] = a.lower;
    g.width[d] = a.width();
    g.low_wall[d] = a.low_wall;
    g.high_wall[d] = a.high_wall;
  }
  return g;
}

}  // namespace cambium::kinetic
