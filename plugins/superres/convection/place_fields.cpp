#include "plugins/superres/convection/place_fields.hpp"

#include "plugins/superres/convection/rows.hpp"
#include "plugins/superres/samples/resampling.hpp"

namespace cambium::superres {
namespace {

constexpr int source[4] = {2, 3, 1, 0};  ///< of field_u, field_w, field_b, field_p in p, b, u, w

/// The last frame of one field at the places where the grid keeps it.
FieldData placed(const FieldData& data, int field, const Grid& g) {
  FieldData one = data;
  one.names = {data.names[field]};
  one.values = {data.values[field]};
  std::vector<double> x, z;
  for (int i = 0; i < g.nx; ++i) x.push_back(g.dx() * (field == 2 ? i : i + 0.5));
  for (int k = 0; k < g.nz; ++k) z.push_back(field == 3 ? g.face[k] : g.center(k));
  return resampled(resampled(one, 1, x, 4), 2, z, 4);
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
      for (int i = 0; i < g.nx; ++i) {
        const int k = flow.slab.first + row - 1;
        const bool wall = (f == field_w && k == 0) || (f == field_u && i == 0 && !g.periodic);
        if (!wall) host(f, row, margin + i) += values.at(0, last, i, k);
      }
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
