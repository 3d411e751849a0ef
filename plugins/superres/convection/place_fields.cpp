#include "plugins/superres/convection/place_fields.hpp"

#include <algorithm>

#include "plugins/superres/convection/rows.hpp"
#include "plugins/superres/samples/resampling.hpp"

namespace cambium::superres {
namespace {

constexpr int source[4] = {2, 3, 1, 0};  ///< index of field_u, field_w, field_b, field_p in p, b, u, w

/// Last frame of one field at its positions on the staggered grid.
FieldData placed(const FieldData& data, int field, const Grid& g) {
  FieldData one = data;
  one.names = {data.names[field]};
  one.values = {data.values[field]};
  std::vector<double> x, z;
  for (int i = 0; i < g.nx; ++i) x.push_back(g.dx() * (field == 2 ? i : i + 0.5));
  for (int k = 0; k < g.nz; ++k) z.push_back(field == 3 ? g.face[k] : g.center(k));
  return resampled(resampled(one, 1, x, 4), 2, z, 4);
}

/// Velocities on walls are not changed: w on the lower plate, u on a left wall.
bool on_wall(int field, int row, int i, const Grid& g) {
  return (field == field_w && row == 0) || (field == field_u && i == 0 && !g.periodic);
}

/// Values by (before, along, after), interpolated to other positions on the axis `along`, which has a period or none
/// (0).
std::vector<double> moved(const std::vector<double>& values, std::size_t before, const std::vector<double>& along,
                          std::size_t after, double period, const std::vector<double>& places) {
  FieldData data;
  data.axis = {std::vector<double>(before), along, std::vector<double>(after)};
  data.period = period;
  data.values = {values};
  return resampled(data, 1, places, 4).values[0];
}

/// Positions of centres or left faces of equal cells.
std::vector<double> even_places(int count, double step, bool on_faces) {
  std::vector<double> out;
  for (int i = 0; i < count; ++i) out.push_back(step * (on_faces ? i : i + 0.5));
  return out;
}

/// Entries of `z` for cubic interpolation to positions from `low` to `high`: the first one and their number.
std::pair<std::size_t, std::size_t> around(const std::vector<double>& z, double low, double high) {
  constexpr std::size_t reach = 4;  // at an end of the axis all four are on one side
  const auto at = [&](double place) {
    return static_cast<std::size_t>(std::upper_bound(z.begin(), z.end(), place) - z.begin());
  };
  const std::size_t first = at(low) > reach ? at(low) - reach : 0, last = std::min(z.size(), at(high) + reach);
  return {first, last - first};
}

void remove_mean(std::vector<double>& p, const Grid& g) {
  double mean = 0.0;
  const auto nz = static_cast<std::size_t>(g.nz);
  for (std::size_t n = 0; n < p.size(); ++n) mean += p[n] * g.height(static_cast<int>(n % nz)) / (g.lz * g.nx);
  for (double& value : p) value -= mean;
}

}  // namespace

void add_fields(const FieldData& data, Flow& flow) {
  const Grid& g = flow.slab.grid;
  const auto host = Kokkos::create_mirror_view(flow.fields);
  Kokkos::deep_copy(host, flow.fields);
  const std::size_t last = data.axis[0].size() - 1;
  for (int f = 0; f < 4; ++f) {
    const auto values = placed(data, source[f], g);
    for (int row = 1; row <= flow.rows(); ++row)
      for (int line = 0; line < flow.layout.lines; ++line)
        for (int i = 0; i < g.nx; ++i)
          if (const int k = flow.slab.first + row - 1; !on_wall(f, k, i, g))
            host(f, row, flow.layout.begin(line) + i) += values.at(0, last, i, k);
  }
  Kokkos::deep_copy(flow.fields, host);
}

void add_volumes(const Volumes& data, Flow& flow) {
  static constexpr std::pair<const char*, int> fields[] = {
      {"p", field_p}, {"b", field_b}, {"u", field_u}, {"v", field_v}, {"w", field_w}};
  const Grid& g = flow.slab.grid;
  const auto host = Kokkos::create_mirror_view(flow.fields);
  Kokkos::deep_copy(host, flow.fields);
  const int m = flow.rows(), ny = g.ny;
  const auto &x = data.places(0), &y = data.places(1), &z = data.places(2);
  for (const auto& [name, f] : fields) {
    std::vector<double> heights;
    for (int k = flow.slab.first; k < flow.slab.first + m; ++k)
      heights.push_back(f == field_w ? g.face[k] : g.center(k));
    const auto [low, count] = around(z, heights.front(), heights.back());
    const std::vector<double> part(z.begin() + static_cast<std::ptrdiff_t>(low),
                                   z.begin() + static_cast<std::ptrdiff_t>(low + count));
    auto values = data.planes(name, static_cast<std::int64_t>(low), static_cast<std::int64_t>(count));
    values = moved(values, 1, x, y.size() * count, data.period(0), even_places(g.nx, g.dx(), f == field_u));
    values = moved(values, g.nx, y, count, data.period(1), even_places(ny, g.dy(), f == field_v));
    values = moved(values, static_cast<std::size_t>(g.nx) * ny, part, 1, 0.0, heights);
    for (int row = 1; row <= m; ++row)
      for (int line = 0; line < ny; ++line)
        for (int i = 0; i < g.nx; ++i)
          if (!on_wall(f, flow.slab.first + row - 1, i, g))
            host(f, row, flow.layout.begin(line) + i) +=
                values[(static_cast<std::size_t>(i) * ny + line) * m + row - 1];
  }
  Kokkos::deep_copy(flow.fields, host);
}

FieldData at_centres(const Flow& flow, double time) {
  const Grid& g = flow.slab.grid;
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), flow.fields);
  FieldData out;
  out.names = {"p", "b", "u", "w"};
  out.period = g.periodic ? g.lx : 0.0;
  out.axis[0] = {time};
  for (int i = 0; i < g.nx; ++i) out.axis[1].push_back(g.dx() * (i + 0.5));
  for (int k = 0; k < g.nz; ++k) out.axis[2].push_back(g.center(k));
  out.values.resize(4);
  for (int i = 0; i < g.nx; ++i)
    for (int k = 0; k < g.nz; ++k) {
      const int row = k + 1, column = margin + i;
      const double right = i + 1 < g.nx ? host(field_u, row, column + 1)
                           : g.periodic ? host(field_u, row, margin)
                                        : 0.0;
      const double above = k + 1 < g.nz ? host(field_w, row + 1, column) : 0.0;
      out.values[0].push_back(host(field_p, row, column));
      out.values[1].push_back(host(field_b, row, column));
      out.values[2].push_back(0.5 * (host(field_u, row, column) + right));
      out.values[3].push_back(0.5 * (host(field_w, row, column) + above));
    }
  remove_mean(out.values[0], g);
  return out;
}

}  // namespace cambium::superres
