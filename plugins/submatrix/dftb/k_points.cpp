#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "plugins/submatrix/dftb/bands.hpp"

namespace cambium::submatrix {

void KPointKeys::describe(deck::Describe<KPointKeys>& d) {
  d("grid", &KPointKeys::grid,
    "number of k-points along each reciprocal cell vector: points (n + shift) / grid, n from 0")
      .at_least(1)
      .def({1, 1, 1});
  d("shift", &KPointKeys::shift,
    "shift of the grid in units of its spacing: 0.5 for an even number of points gives the grid of Monkhorst and Pack")
      .def({0.0, 0.0, 0.0});
  d("list", &KPointKeys::list,
    "k-points in units of the reciprocal cell vectors, with weights, instead of a grid: [[kx, ky, kz, weight], ...]");
  d.check([](const KPointKeys& k) -> std::string {
    if (!k.list) return {};
    if (k.grid != std::array{1, 1, 1}) return "k_points has a grid and a list; leave one of them out";
    double sum = 0.0;
    for (const auto& point : *k.list) {
      if (!(point[3] >= 0.0)) return fmt::format("k_points.list has a weight of {}; weights are positive", point[3]);
      sum += point[3];
    }
    return sum > 0.0 ? "" : "k_points.list has no point with a weight; give [kx, ky, kz, weight] for at least one";
  });
}

std::vector<KPoint> KPointKeys::points() const {
  std::vector<KPoint> all, out;
  if (list) {
    double sum = 0.0;
    for (const auto& p : *list) sum += p[3];
    for (const auto& p : *list) all.push_back({{p[0], p[1], p[2]}, p[3] / sum});
  } else {
    const double weight = 1.0 / (static_cast<double>(grid[0]) * grid[1] * grid[2]);
    for (int i = 0; i < grid[0]; ++i)
      for (int j = 0; j < grid[1]; ++j)
        for (int k = 0; k < grid[2]; ++k)
          all.push_back({{(i + shift[0]) / grid[0], (j + shift[1]) / grid[1], (k + shift[2]) / grid[2]}, weight});
  }
  const auto opposite = [](const KPoint& a, const KPoint& b) {
    for (std::size_t c = 0; c < 3; ++c) {
      const double sum = a.k[c] + b.k[c];
      if (std::abs(sum - std::round(sum)) > 1e-10) return false;
    }
    return true;
  };
  for (const KPoint& point : all) {
    if (point.weight == 0.0) continue;
    const auto same = std::find_if(out.begin(), out.end(), [&](const KPoint& k) { return opposite(k, point); });
    if (same == out.end())
      out.push_back(point);
    else
      same->weight += point.weight;
  }
  return out;
}

}  // namespace cambium::submatrix
