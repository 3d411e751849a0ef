#include "plugins/assimilate/observations/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/key_error.hpp"

namespace cambium::assimilate {
namespace {

using Row = std::vector<std::pair<std::size_t, double>>;

/// Interpolation stencil on an axis: at most two grid points and their weights.
using Between = std::vector<std::pair<std::size_t, double>>;

/// Linear interpolation between neighbours. Beyond the last point: extrapolation from the last two or, if the value is
/// zero at `wall`, interpolation to zero there.
Between between(const std::vector<double>& places, double at, double period, std::optional<double> wall = {}) {
  if (places.size() == 1) return {{0, 1.0}};
  const auto n = places.size();
  if (period > 0.0) {
    at -= period * std::floor((at - places[0]) / period);
    if (at >= places[n - 1]) {
      const double share = (at - places[n - 1]) / (places[0] + period - places[n - 1]);
      return {{n - 1, 1.0 - share}, {0, share}};
    }
  }
  if (wall && at > places[n - 1]) return {{n - 1, (*wall - at) / (*wall - places[n - 1])}};
  const auto above = std::upper_bound(places.begin(), places.end(), at) - places.begin();
  const auto low = static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(above - 1, 0, std::ssize(places) - 2));
  const double share = (at - places[low]) / (places[low + 1] - places[low]);
  return {{low, 1.0 - share}, {low + 1, share}};
}

/// Value of a field at the centre of a cell, interpolated from the field's own grid points.
Row centre_row(const StateSpace& space, std::size_t field, std::size_t column, std::size_t row) {
  const auto& f = space.fields[field];
  const auto wall = [](bool has, double end) { return has ? std::optional(end) : std::nullopt; };
  Row out;
  for (const auto& [i, a] : between(f.x, space.x[column], space.period, wall(f.wall_at_left, space.span_x[1])))
    for (const auto& [k, b] : between(f.z, space.z[row], 0.0, wall(f.wall_below, space.span_z[1])))
      if (a * b != 0.0) out.emplace_back((field * space.nx() + i) * space.nz() + k, a * b);
  return out;
}

/// Adds weights to a row that names each element once.
void add(Row& to, const Row& more, double weight) {
  for (const auto& [element, share] : more) {
    const auto found = std::find_if(to.begin(), to.end(), [&](const auto& entry) { return entry.first == element; });
    if (found == to.end())
      to.emplace_back(element, weight * share);
    else
      found->second += weight * share;
  }
}

Observation at_point(const StateSpace& space, std::size_t field, double x, double z) {
  Observation out{field, x, z, {}, 0.0};
  for (const auto& [i, a] : between(space.x, x, space.period))
    for (const auto& [k, b] : between(space.z, z, 0.0))
      if (a * b != 0.0) add(out.row, centre_row(space, field, i, k), a * b);
  return out;
}

/// Length of each cell, from the middles between centres.
std::vector<double> lengths(const std::vector<double>& centres) {
  std::vector<double> out(centres.size(), 1.0);
  for (std::size_t k = 0; centres.size() > 1 && k < centres.size(); ++k) {
    const double low = k > 0 ? centres[k - 1] : 2.0 * centres[0] - centres[1];
    const double high = k + 1 < centres.size() ? centres[k + 1] : 2.0 * centres[k] - centres[k - 1];
    out[k] = 0.5 * (high - low);
  }
  return out;
}

/// Mean over the cells [i0, i1) x [k0, k1), by area.
Observation over_block(const StateSpace& space, std::size_t field, std::array<std::size_t, 2> i,
                       std::array<std::size_t, 2> k) {
  Observation out{field, 0.5 * (space.x[i[0]] + space.x[i[1] - 1]), 0.5 * (space.z[k[0]] + space.z[k[1] - 1]), {}, 0.0};
  const auto wide = lengths(space.x), high = lengths(space.z);
  double area = 0.0;
  for (auto a = i[0]; a < i[1]; ++a)
    for (auto b = k[0]; b < k[1]; ++b) area += wide[a] * high[b];
  for (auto a = i[0]; a < i[1]; ++a)
    for (auto b = k[0]; b < k[1]; ++b) add(out.row, centre_row(space, field, a, b), wide[a] * high[b] / area);
  return out;
}

bool inside(const std::optional<std::array<double, 2>>& limits, double at) {
  return !limits || (at >= (*limits)[0] && at <= (*limits)[1]);
}

void add_regular(const NetworkKeys& keys, const StateSpace& space, std::size_t field, Network& out) {
  const auto step = [&](int axis, std::size_t cells) {
    const auto stride = static_cast<std::size_t>(keys.stride[axis]);
    if (stride > cells && cells > 1)  // models on a line have one row, whatever the stride
      throw KeyError("assimilate.observations.stride", "observations.stride",
                     fmt::format("'stride' is {} along {}, where the model has {} cells: give at most as many", stride,
                                 axis == 0 ? "x" : "z", cells));
    return std::min(stride, cells);
  };
  const auto si = step(0, space.nx()), sk = step(1, space.nz());
  for (std::size_t i = 0; i + si <= space.nx(); i += si)
    for (std::size_t k = 0; k + sk <= space.nz(); k += sk) {
      Observation one = keys.operation == Operator::blocks
                            ? over_block(space, field, {i, i + si}, {k, k + sk})
                            : at_point(space, field, space.x[i + si / 2], space.z[k + sk / 2]);
      if (inside(keys.between_x, one.x) && inside(keys.between_z, one.z)) out.list.push_back(std::move(one));
    }
}

void require_inside(const StateSpace& space, const std::array<double, 2>& at) {
  const auto &x = space.span_x, &z = space.span_z;
  if (at[0] >= x[0] && at[0] <= x[1] && at[1] >= z[0] && at[1] <= z[1]) return;
  throw KeyError("assimilate.observations.positions", "observations.positions",
                 fmt::format("the position [{:g}, {:g}] is outside of the model, x = {:g} to {:g} and z = {:g} to "
                             "{:g}: give positions inside",
                             at[0], at[1], x[0], x[1], z[0], z[1]));
}

}  // namespace

double distance(const StateSpace& space, double x1, double z1, double x2, double z2) {
  double dx = std::fabs(x1 - x2);
  if (space.period > 0.0) dx = std::fabs(dx - space.period * std::round(dx / space.period));
  return std::hypot(dx, z1 - z2);
}

void Network::apply(std::span<const double> state, std::span<double> out) const {
  for (std::size_t i = 0; i < list.size(); ++i) {
    double sum = 0.0;
    for (const auto& [element, weight] : list[i].row) sum += weight * state[element];
    out[i] = sum;
  }
}

Network centres(const StateSpace& space) {
  Network out;
  for (std::size_t f = 0; f < space.fields.size(); ++f)
    for (std::size_t i = 0; i < space.nx(); ++i)
      for (std::size_t k = 0; k < space.nz(); ++k)
        out.list.push_back({f, space.x[i], space.z[k], centre_row(space, f, i, k), 1.0});
  return out;
}

StateSpace centred(StateSpace space) {
  for (auto& field : space.fields) {
    field.x = space.x;
    field.z = space.z;
    field.wall_below = field.wall_at_left = false;
  }
  return space;
}

std::vector<std::size_t> observed_fields(const NetworkKeys& keys, const StateSpace& space) {
  std::vector<std::size_t> out;
  if (keys.fields.empty())
    for (std::size_t f = 0; f < space.fields.size(); ++f) out.push_back(f);
  for (const auto& name : keys.fields) {
    const auto found = std::find_if(space.fields.begin(), space.fields.end(), [&](auto& f) { return f.name == name; });
    if (found == space.fields.end()) {
      std::vector<std::string> names;
      for (const auto& f : space.fields) names.push_back(f.name);
      throw KeyError("assimilate.observations.fields", "observations.fields",
                     fmt::format("the model has no field '{}'; name among: {}", name, fmt::join(names, ", ")));
    }
    out.push_back(static_cast<std::size_t>(found - space.fields.begin()));
  }
  return out;
}

Network make_network(const NetworkKeys& keys, const StateSpace& space, std::span<const double> scale) {
  Network out;
  for (const auto& at : keys.positions) require_inside(space, at);
  for (const std::size_t field : observed_fields(keys, space)) {
    const auto first = out.size();
    if (keys.positions.empty()) add_regular(keys, space, field, out);
    for (const auto& at : keys.positions) out.list.push_back(at_point(space, field, at[0], at[1]));
    const double deviation = keys.error ? *keys.error : keys.relative_error.value_or(0.0) * scale[field];
    for (auto i = first; i < out.size(); ++i) out.list[i].deviation = deviation;
    if (out.size() > first && !(deviation > 0.0))
      throw KeyError("assimilate.observations.error", "observations",
                     fmt::format("the error of the observations of '{}' is zero: filters divide by it; give a positive "
                                 "'error' or 'relative_error'",
                                 space.fields[field].name));
  }
  if (out.size() > 0) return out;
  throw KeyError("assimilate.observations.none", "observations",
                 "no position of the model is observed: widen 'between_x' and 'between_z'");
}

}  // namespace cambium::assimilate
