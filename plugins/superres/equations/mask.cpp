#include "plugins/superres/equations/mask.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"

namespace cambium::superres {
namespace {

/// Neighbours along x and z of point (i, k), wrapped around a period.
std::vector<std::size_t> neighbours(const FieldData& data, std::size_t i, std::size_t k) {
  const std::size_t nx = data.nx(), nz = data.nz();
  const bool wraps = data.period > 0.0;
  std::vector<std::size_t> out;
  if (i > 0 || wraps) out.push_back((i + nx - 1) % nx * nz + k);
  if (i + 1 < nx || wraps) out.push_back((i + 1) % nx * nz + k);
  if (k > 0) out.push_back(i * nz + k - 1);
  if (k + 1 < nz) out.push_back(i * nz + k + 1);
  return out;
}

/// Fills one more layer of the hidden points. False when no hidden point has a known neighbour.
bool fill_layer(FieldData& data, std::size_t first, Hidden& hidden) {
  const Hidden before = hidden;
  bool changed = false;
  for (std::size_t n = 0; n < before.size(); ++n) {
    if (!before[n]) continue;
    std::vector<std::size_t> known;
    for (auto from : neighbours(data, n / data.nz(), n % data.nz()))
      if (!before[from]) known.push_back(from);
    if (known.empty()) continue;
    for (auto& values : data.values) {
      double sum = 0.0;
      for (auto from : known) sum += values[first + from];
      values[first + n] = sum / static_cast<double>(known.size());
    }
    hidden[n] = 0;
    changed = true;
  }
  return changed;
}

/// Index of the nearest position along an axis.
std::size_t nearest(double place, const std::vector<double>& axis, double period) {
  std::size_t best = 0;
  double least = INFINITY;
  for (std::size_t k = 0; k < axis.size(); ++k) {
    double apart = std::fabs(place - axis[k]);
    if (period > 0.0) apart = std::fabs(std::remainder(place - axis[k], period));
    if (apart < least) {
      least = apart;
      best = k;
    }
  }
  return best;
}

/// Points whose stencil along x or z contains one of `plane`.
Hidden reached(const Hidden& plane, const FieldData& data, int axis, int order) {
  const int nx = static_cast<int>(data.nx()), nz = static_cast<int>(data.nz()), n = axis == 1 ? nx : nz;
  const AxisStencil stencil(data.axis[axis], order, axis == 1 ? data.period : 0.0);
  Hidden out(plane.size(), 0);
  for (int i = 0; i < nx; ++i)
    for (int k = 0; k < nz; ++k) {
      const int here = axis == 1 ? i : k, first = stencil.first(here),
                last = first + static_cast<int>(std::ssize(stencil.weights(here)));
      for (int j = first; j < last; ++j) {
        const int at = (j + n) % n;
        out[static_cast<std::size_t>(i) * nz + k] |=
            axis == 1 ? plane[static_cast<std::size_t>(at) * nz + k] : plane[static_cast<std::size_t>(i) * nz + at];
      }
    }
  return out;
}

}  // namespace

void fill_hidden(FieldData& data) {
  const std::size_t size = data.nx() * data.nz();
  for (std::size_t t = 0; t < data.axis[0].size() && !data.hidden.empty(); ++t) {
    const auto begin = data.hidden.begin() + static_cast<std::ptrdiff_t>(t * size);
    Hidden left(begin, begin + static_cast<std::ptrdiff_t>(size));
    if (std::count(left.begin(), left.end(), 0) == 0)
      throw InputError(fmt::format("the mask of '{}' hides every point at t = {:g}; leave that frame out", data.file,
                                   data.axis[0][t]));
    while (fill_layer(data, t * size, left)) {
    }
  }
}

Hidden hidden_at(const FieldData& data, const std::array<std::vector<double>, 3>& places) {
  if (data.hidden.empty()) return {};
  std::array<std::vector<std::size_t>, 3> from;
  for (int a = 0; a < 3; ++a)
    for (double place : places[a]) from[a].push_back(nearest(place, data.axis[a], a == 1 ? data.period : 0.0));
  Hidden out;
  for (auto t : from[0])
    for (auto x : from[1])
      for (auto z : from[2]) out.push_back(data.is_hidden(t, x, z));
  return out;
}

Hidden touched(const std::vector<Derivative>& derivatives, const FieldData& data, int t) {
  if (data.hidden.empty()) return {};
  const std::size_t size = data.nx() * data.nz();
  const auto frame = [&](int number) {
    return data.hidden.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(number) * size);
  };
  Hidden out(frame(t), frame(t) + static_cast<std::ptrdiff_t>(size));
  const auto add = [](Hidden& to, auto from) {
    for (auto& one : to) one |= *from++;
  };
  for (const auto& d : derivatives) {
    Hidden plane(size, 0);
    const AxisStencil in_time(data.axis[0], d.order[0]);
    const int first = d.order[0] > 0 ? in_time.first(t) : t;
    const int last = d.order[0] > 0 ? first + static_cast<int>(std::ssize(in_time.weights(t))) : t + 1;
    for (int k = first; k < last; ++k) add(plane, frame(k));
    for (int axis = 1; axis < 3; ++axis)
      if (d.order[axis] > 0) plane = reached(plane, data, axis, d.order[axis]);
    add(out, plane.begin());
  }
  return out;
}

void require_judged(double weight, const FieldData& data, const std::string& what) {
  if (weight > 0.0) return;
  throw InputError(
      fmt::format("no point of '{}' is so far from its mask that {} could be evaluated there: derivatives use seven "
                  "points along each axis",
                  data.file, what));
}

}  // namespace cambium::superres
