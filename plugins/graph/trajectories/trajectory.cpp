#include "plugins/graph/trajectories/trajectory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "core/base/error.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/io/reading.hpp"

namespace cambium::graph {

namespace {

using Side = std::pair<std::int32_t, std::int32_t>;

class Reader {
 public:
  explicit Reader(const std::string& path) : file_(io::File::open(path)) {}

  bool has(const char* array) const { return file_.exists(array); }
  io::Dataset dataset(const std::string& array) const {
    if (!file_.exists(array))
      throw InputError(
          fmt::format("'{}' has no array '{}'; name a file that the output node_fields wrote", file_.file(), array));
    return file_.dataset(array);
  }
  std::vector<double> numbers(const std::string& array) const { return dataset(array).read<std::vector<double>>(); }

  /// Reads rows of node indices, below `nodes`.
  std::vector<std::int32_t> rows(const char* array, std::int64_t width, std::int64_t nodes) const {
    auto out = dataset(array).read<std::vector<std::int32_t>>();
    for (std::size_t k = 0; k < out.size(); ++k)
      if (out[k] < 0 || out[k] >= nodes)
        throw InputError(fmt::format("'{}': {} {} has the node {}; there are nodes 0 to {}", file_.file(), array,
                                     static_cast<std::int64_t>(k) / width, out[k], nodes - 1));
    return out;
  }

  const std::string& name() const { return file_.file(); }

 private:
  io::File file_;
};

void read_places(const Reader& in, Trajectory& out) {
  const std::array<std::vector<double>, 3> axis{in.numbers("x"), in.numbers("y"), in.numbers("z")};
  for (std::size_t n = 0; n < axis[0].size(); ++n)
    for (const auto& along : axis) out.place.push_back(along.at(n));
  out.boundary.assign(axis[0].size(), 0);
}

/// Indices of the selected snapshots; sets the time between them.
std::vector<std::int64_t> moments_of(const Reader& in, std::int64_t stride, Trajectory& out) {
  const auto time = in.numbers("time");
  std::vector<std::int64_t> taken;
  for (std::int64_t k = 0; k < std::ssize(time); k += stride) taken.push_back(k);
  if (taken.size() < 2)
    throw InputError(fmt::format(
        "'{}' holds {} snapshots, every {}th of which are fewer than two; give a longer run, or a smaller stride",
        in.name(), time.size(), stride));
  out.interval = time[taken[1]] - time[taken[0]];
  for (std::size_t k = 1; k < taken.size(); ++k)
    if (std::abs(time[taken[k]] - time[taken[k - 1]] - out.interval) > 1e-6 * out.interval)
      throw InputError(
          fmt::format("'{}': its snapshots are not evenly spaced (t = {:g} after {:g}, {:g} before); give the physics "
                      "a sample_interval and the output node_fields the same interval",
                      in.name(), time[taken[k]], time[taken[k - 1]], out.interval));
  return taken;
}

void read_values(const Reader& in, const std::vector<std::string>& fields, const std::vector<std::int64_t>& taken,
                 Trajectory& out) {
  const auto n = static_cast<std::size_t>(out.nodes());
  out.value.assign(taken.size(), std::vector<double>(n * fields.size()));
  for (std::size_t f = 0; f < fields.size(); ++f) {
    const auto all = in.numbers(fields[f]);
    for (std::size_t m = 0; m < taken.size(); ++m)
      for (std::size_t i = 0; i < n; ++i) {
        const double value = all.at(static_cast<std::size_t>(taken[m]) * n + i);
        if (!std::isfinite(value))
          throw InputError(
              fmt::format("'{}': {} of node {} in snapshot {} is not finite", in.name(), fields[f], i, taken[m]));
        out.value[m][i * fields.size() + f] = value;
      }
  }
}

}  // namespace

void join_triangles(std::vector<std::int32_t> corner, Trajectory& out) {
  out.corner = std::move(corner);
  std::map<Side, int> sides;
  out.share.assign(out.nodes(), 0.0);
  double whole = 0.0;
  for (std::size_t t = 0; t + 2 < out.corner.size(); t += 3) {
    const double* p[3];
    for (std::size_t k = 0; k < 3; ++k) {
      const auto [low, high] = std::minmax(out.corner[t + k], out.corner[t + (k + 1) % 3]);
      ++sides[{low, high}];
      p[k] = &out.place[3 * out.corner[t + k]];
    }
    const double area =
        0.5 * std::abs((p[1][0] - p[0][0]) * (p[2][1] - p[0][1]) - (p[2][0] - p[0][0]) * (p[1][1] - p[0][1]));
    for (std::size_t k = 0; k < 3; ++k) out.share[out.corner[t + k]] += area / 3.0;
    whole += area;
  }
  for (auto& share : out.share) share /= whole;
  for (const auto& [side, triangles] : sides) {
    out.edge.insert(out.edge.end(), {side.first, side.second});
    if (triangles == 1) out.boundary[side.first] = out.boundary[side.second] = 1;
  }
  out.weight.assign(sides.size(), 1.0);
}

void join_edges(std::vector<std::int32_t> edge, std::vector<double> weight, Trajectory& out) {
  out.edge = std::move(edge);
  out.weight = std::move(weight);
  for (std::size_t k = 0; k + 1 < out.edge.size(); k += 2)
    if (out.edge[k] > out.edge[k + 1]) std::swap(out.edge[k], out.edge[k + 1]);
  out.share.assign(out.nodes(), 1.0 / static_cast<double>(out.nodes()));
}

Trajectory read_trajectory(const std::string& path, const std::vector<std::string>& fields, std::int64_t stride) {
  Trajectory out;
  io::reading(path, [&] {
    const Reader in(path);
    read_places(in, out);
    if (in.has("triangle"))
      join_triangles(in.rows("triangle", 3, out.nodes()), out);
    else
      join_edges(in.rows("edge", 2, out.nodes()), in.numbers("weight"), out);
    if (in.has("seconds")) out.seconds = in.numbers("seconds");
    read_values(in, fields, moments_of(in, stride, out), out);
  });
  return out;
}

}  // namespace cambium::graph
