#include "plugins/graph/trajectories/interpolation.hpp"

#include <algorithm>
#include <limits>

#include "core/base/error.hpp"

namespace cambium::graph {

namespace {

/// Barycentric coordinates of (x, y) in a triangle.
std::array<double, 3> coordinates(const Trajectory& mesh, const std::int32_t* corner, double x, double y) {
  const double *a = &mesh.place[3 * corner[0]], *b = &mesh.place[3 * corner[1]], *c = &mesh.place[3 * corner[2]];
  const double twice = (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1]);
  const double at_a = ((b[0] - x) * (c[1] - y) - (c[0] - x) * (b[1] - y)) / twice;
  const double at_b = ((c[0] - x) * (a[1] - y) - (a[0] - x) * (c[1] - y)) / twice;
  return {at_a, at_b, 1.0 - at_a - at_b};
}

}  // namespace

Interpolation::Interpolation(const Trajectory& from, std::span<const double> places) {
  if (from.corner.empty()) throw InputError("values between nodes need a mesh of triangles; this run has edges alone");
  for (std::size_t n = 0; n + 2 < places.size(); n += 3) {
    Corners best;
    double innermost = -std::numeric_limits<double>::infinity();
    for (std::size_t t = 0; t + 2 < from.corner.size() && innermost < 0.0; t += 3) {
      const auto weight = coordinates(from, &from.corner[t], places[n], places[n + 1]);
      const double least = std::min({weight[0], weight[1], weight[2]});
      if (least <= innermost) continue;
      innermost = least;
      best = {{from.corner[t], from.corner[t + 1], from.corner[t + 2]}, weight};
    }
    double sum = 0.0;
    for (auto& weight : best.weight) sum += weight = std::max(weight, 0.0);
    for (auto& weight : best.weight) weight /= sum;
    at_.push_back(best);
  }
}

std::vector<double> Interpolation::operator()(std::span<const double> value, std::size_t fields) const {
  std::vector<double> out(at_.size() * fields, 0.0);
  for (std::size_t n = 0; n < at_.size(); ++n)
    for (std::size_t k = 0; k < 3; ++k)
      for (std::size_t f = 0; f < fields; ++f)
        out[n * fields + f] += at_[n].weight[k] * value[static_cast<std::size_t>(at_[n].node[k]) * fields + f];
  return out;
}

}  // namespace cambium::graph
