#include "plugins/graph/transport/advection.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/sparse/products.hpp"

namespace cambium::graph {

AdvectionTerms::AdvectionTerms(const DualCells& cells, NodeRange& range, Flow flow, Advection scheme)
    : cells_(cells), range_(range), flow_(std::move(flow)), scheme_(scheme),
      slope_(static_cast<std::size_t>(2 * range.local())) {
  for (auto& own : own_slope_) own.resize(range.owned());
  for (auto* known : {&now_, &before_}) {
    known->flux.resize(cells.edges.size());
    known->outflow.resize(cells.sides.size());
  }
  set_time(0.0);
}

/// Volume per time that crosses the line from left to right. Two Gauss points, exact for cubic velocities.
double AdvectionTerms::through(Point from, Point to, double t) const {
  if (flow_.stream) return (*flow_.stream)({to[0], to[1], t}) - (*flow_.stream)({from[0], from[1], t});
  const double sx = to[0] - from[0], sy = to[1] - from[1];
  double out = 0.0;
  for (const double at : {0.21132486540518711775, 0.78867513459481288225}) {
    const double x = from[0] + at * sx, y = from[1] + at * sy;
    out += 0.5 * (flow_.velocity[0]({x, y, t}) * sy - flow_.velocity[1]({x, y, t}) * sx);
  }
  return out;
}

/// Evaluates the stream function once per midpoint instead of at the ends of every face.
void AdvectionTerms::set_fluxes_of_stream(double t) {
  std::vector<double> at_edge, at_triangle;
  for (const auto& edge : cells_.edges) at_edge.push_back((*flow_.stream)({edge.middle[0], edge.middle[1], t}));
  for (const auto& point : cells_.centroid) at_triangle.push_back((*flow_.stream)({point[0], point[1], t}));
  for (const auto& face : cells_.faces)
    now_.flux[face.edge] += face.sign * (at_triangle[face.triangle] - at_edge[face.edge]);
}

void AdvectionTerms::set_time(double t) {
  if (flow_.still() || (now_.time && (!flow_.moves || *now_.time == t))) return;
  std::swap(now_, before_);  // stages of a step return to the time of its end
  if (now_.time == t) return;
  now_.time = t;
  std::fill(now_.flux.begin(), now_.flux.end(), 0.0);
  if (flow_.stream)
    set_fluxes_of_stream(t);
  else
    for (const auto& face : cells_.faces)
      now_.flux[face.edge] += face.sign * through(cells_.edges[face.edge].middle, cells_.centroid[face.triangle], t);
  for (std::size_t s = 0; s < cells_.sides.size(); ++s)
    now_.outflow[s] = through(cells_.sides[s].from, cells_.sides[s].to, t);
}

/// The value at the midpoint of an edge, seen from a node: `difference` to the other node, `along` the node's own
/// gradient times the edge vector.
double AdvectionTerms::face_value(double near, double difference, double along) const {
  if (scheme_ == Advection::upwind) return near;
  if (scheme_ == Advection::linear) return near + 0.5 * (difference / 3.0 + 2.0 / 3.0 * along);
  const double behind = 2.0 * along - difference;  // extrapolated difference on the other side of the node
  if (behind * difference <= 0.0) return near;
  const double a = difference * difference, b = behind * behind;
  return near + 0.5 * (a * behind + b * difference) / (a + b);
}

void AdvectionTerms::add(std::span<const double> c, std::span<double> out) {
  if (flow_.still()) return;
  const std::int64_t owned = range_.owned();
  if (scheme_ != Advection::upwind) {
    for (int d = 0; d < 2; ++d) {
      sparse::multiply(cells_.gradient[d], {c.data(), range_.local(), 1, 1}, {own_slope_[d].data(), owned, 1, 1});
      for (std::int64_t i = 0; i < owned; ++i) slope_[2 * i + d] = own_slope_[d][i];
    }
    range_.exchange(slope_, 2);
  }
  for (std::size_t e = 0; e < now_.flux.size(); ++e) {
    const auto& edge = cells_.edges[e];
    const bool forward = now_.flux[e] > 0.0;
    const std::int64_t up = forward ? edge.a : edge.b;
    const double sign = forward ? 1.0 : -1.0, difference = sign * (c[edge.b] - c[edge.a]),
                 along = sign * (slope_[2 * up] * edge.way[0] + slope_[2 * up + 1] * edge.way[1]);
    const double carried = now_.flux[e] * face_value(c[up], difference, along);
    if (edge.own_a) out[edge.a] -= carried;
    if (edge.own_b) out[edge.b] += carried;
  }
}

double AdvectionTerms::courant_rate() const {
  std::vector<double> out(range_.owned(), 0.0);
  double most = 0.0;
  for (std::size_t e = 0; e < now_.flux.size(); ++e) {
    const auto& edge = cells_.edges[e];
    if (!std::isfinite(now_.flux[e])) most = std::numeric_limits<double>::infinity();
    if (now_.flux[e] > 0.0 && edge.own_a) out[edge.a] += now_.flux[e];
    if (now_.flux[e] < 0.0 && edge.own_b) out[edge.b] -= now_.flux[e];
  }
  for (std::size_t s = 0; s < now_.outflow.size(); ++s)
    if (now_.outflow[s] > 0.0) out[cells_.sides[s].node] += now_.outflow[s];
  for (std::int64_t i = 0; i < range_.owned(); ++i) most = std::max(most, out[i] / cells_.area[i]);
  return range_.comm().max(most);
}

}  // namespace cambium::graph
