#include "plugins/superres/equations/stencil.hpp"

#include <algorithm>

namespace cambium::superres {

std::vector<double> derivative_weights(double place, std::span<const double> nodes, int order) {
  const int n = static_cast<int>(nodes.size());
  // c[j][m]: weight of node j for derivative m of the interpolation through the nodes taken so far.
  std::vector<std::vector<double>> c(n, std::vector<double>(order + 1, 0.0));
  double c1 = 1.0, c4 = nodes[0] - place;
  c[0][0] = 1.0;
  for (int i = 1; i < n; ++i) {
    const int most = std::min(i, order);
    double c2 = 1.0;
    const double c5 = c4;
    c4 = nodes[i] - place;
    for (int j = 0; j < i; ++j) {
      const double c3 = nodes[i] - nodes[j];
      c2 *= c3;
      if (j == i - 1) {
        for (int m = most; m >= 1; --m) c[i][m] = c1 * (m * c[i - 1][m - 1] - c5 * c[i - 1][m]) / c2;
        c[i][0] = -c1 * c5 * c[i - 1][0] / c2;
      }
      for (int m = most; m >= 1; --m) c[j][m] = (c4 * c[j][m] - m * c[j][m - 1]) / c3;
      c[j][0] = c4 * c[j][0] / c3;
    }
    c1 = c2;
  }
  std::vector<double> out(n);
  for (int j = 0; j < n; ++j) out[j] = c[j][order];
  return out;
}

AxisStencil::AxisStencil(const std::vector<double>& places, int order, double period, int points)
    : points_(std::min<int>(points, static_cast<int>(places.size()))) {
  const int n = static_cast<int>(places.size());
  for (int k = 0; k < n; ++k) {
    int first = k - points_ / 2;
    if (period == 0.0) first = std::clamp(first, 0, n - points_);
    std::vector<double> nodes;
    for (int j = first; j < first + points_; ++j) {
      const int turns = j < 0 ? -1 : j >= n ? 1 : 0;
      nodes.push_back(places[j - turns * n] + turns * period);
    }
    first_.push_back(first);
    const auto w = derivative_weights(places[k], nodes, order);
    weights_.insert(weights_.end(), w.begin(), w.end());
  }
}

}  // namespace cambium::superres
