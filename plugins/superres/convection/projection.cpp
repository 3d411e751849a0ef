#include "plugins/superres/convection/projection.hpp"

#include <cmath>

#include "plugins/superres/convection/rows.hpp"

namespace cambium::superres {

Projection::Projection(const Comm& comm, const Slab& slab, int fields)
    : halo_(comm, slab, fields), poisson_(comm, slab),
      phi_("phi", 1, slab.rows + 2, RowLayout::of(slab.grid).columns()) {}

void Projection::start_ghosts(const Flow& flow) {
  flow.fill_columns();
  halo_.start(flow.fields, 0, static_cast<int>(flow.fields.extent(0)));
}

void Projection::finish_ghosts(const Flow& flow) {
  halo_.finish(flow.fields, 0, static_cast<int>(flow.fields.extent(0)));
  flow.fill_plates();
}

/// Times `factor`; `out` has a row for every line of cells.
static void divergence(const Flow& flow, double factor, const View<double**>& out) {
  const auto f = flow.fields;
  const auto inverse_height = flow.slab.inverse_height;
  const double dx1 = factor / flow.slab.grid.dx();
  const RowLayout layout = flow.layout;
  const int lines = layout.lines, line = layout.pitch;
  const double dy1 = layout.spatial ? factor / flow.slab.grid.dy() : 0.0;
  for_rows(
      "divergence", lines, lines * (flow.rows() + 1), flow.nx(), KOKKOS_LAMBDA(int row, int column) {
        const int k = row / lines, i = layout.begin(row % lines) + column;
        const double *u = &f(field_u, k, i), *w = &f(field_w, k, i);
        const double* const above = &f(field_w, k + 1, i);
        const Lanes along_x = Lanes(dx1) * (Lanes::load(u + 1) - Lanes::load(u));
        const Lanes along_z = Lanes(factor * inverse_height(k)) * (Lanes::load(above) - Lanes::load(w));
        Lanes sum = along_x + along_z;
        if (layout.spatial) {
          const double* const v = &f(field_v, k, i);
          sum = sum + Lanes(dy1) * (Lanes::load(v + line) - Lanes::load(v));
        }
        sum.store(&out(row - lines, column));
      });
}

/// Ghost columns, and ghost rows on plates; rows of other ranks are there.
static void fill_phi(const Slab& slab, const Fields& phi) {
  fill_columns(Kokkos::subview(phi, 0, Kokkos::ALL, Kokkos::ALL), slab.grid, 1, slab.rows + 1, 1.0, 0.0, 0.0);
  const int m = slab.rows, columns = static_cast<int>(phi.extent(2));
  const bool at_bottom = slab.bottom(), at_top = slab.top();
  Kokkos::parallel_for(
      "phi on plates", Range(0, columns), KOKKOS_LAMBDA(int i) {
        if (at_bottom) phi(0, 0, i) = phi(0, 1, i);
        if (at_top) phi(0, m + 1, i) = phi(0, m, i);
      });
}

static void correct(const Flow& flow, const Fields& phi, double alpha_dt, bool advance_pressure) {
  const auto f = flow.fields;
  const auto inverse_height = flow.slab.inverse_height, inverse_between = flow.slab.inverse_between;
  const double over_x = alpha_dt / flow.slab.grid.dx(), nu = 0.5 * alpha_dt * flow.fluid.viscosity;
  const bool spatial = flow.layout.spatial;
  const double over_y = spatial ? alpha_dt / flow.slab.grid.dy() : 0.0;
  const int line = flow.layout.pitch;
  for_cells(
      "correction", 1, flow.rows() + 1, flow.layout, KOKKOS_LAMBDA(int k, int i) {
        const double* const center = &phi(0, k, i);
        const Lanes c = Lanes::load(center), left = Lanes::load(center - 1);
        const Lanes below = Lanes::load(&phi(0, k - 1, i)), above = Lanes::load(&phi(0, k + 1, i));
        double *u = &f(field_u, k, i), *w = &f(field_w, k, i), *p = &f(field_p, k, i);
        const Lanes low = Lanes(inverse_between(k)) * (c - below), high = Lanes(inverse_between(k + 1)) * (above - c);
        (Lanes::load(u) - Lanes(over_x) * (c - left)).store(u);
        (Lanes::load(w) - Lanes(alpha_dt) * low).store(w);
        if (spatial) {
          double* const v = &f(field_v, k, i);
          (Lanes::load(v) - Lanes(over_y) * (c - Lanes::load(center - line))).store(v);
        }
        if (advance_pressure) (Lanes::load(p) + c - Lanes(nu * inverse_height(k)) * (high - low)).store(p);
      });
}

/// Rows that other ranks wait for come first and travel while the others are transformed.
void Projection::transform_back(const Slab& slab) {
  const int batch = slab.grid.spatial() ? 1 : 8;  // rows that a transform works on together
  const auto phi = Kokkos::subview(phi_, 0, Kokkos::ALL, Kokkos::ALL);
  const int m = slab.rows, early = m >= 2 * batch ? batch : 0;
  const int low = slab.bottom() ? 0 : early, high = slab.top() ? 0 : early;
  if (early == 0) poisson_.rows(phi, 1, m);
  if (low > 0) poisson_.rows(phi, 1, low);
  if (high > 0) poisson_.rows(phi, m + 1 - high, high);
  halo_.start(phi_, 0, 1);
  if (early > 0 && m > low + high) poisson_.rows(phi, 1 + low, m - low - high);
  halo_.finish(phi_, 0, 1);
}

void Projection::apply(const Flow& flow, double alpha_dt, bool advance_pressure) {
  const Slab& slab = flow.slab;
  fill_columns(flow.field(field_u), slab.grid, 1, slab.rows + 1, 0.0, 0.0, 0.0);
  if (flow.layout.spatial) fill_columns(flow.field(field_v), slab.grid, 1, slab.rows + 1, 0.0, 0.0, 0.0);
  divergence(flow, 1.0 / alpha_dt, poisson_.source);
  poisson_.solve();
  transform_back(slab);
  fill_phi(slab, phi_);
  correct(flow, phi_, alpha_dt, advance_pressure);
  start_ghosts(flow);
}

double largest_divergence(const Flow& flow) {
  const int rows = flow.rows() * flow.layout.lines;
  View<double**> out("divergence", rows, padded(flow.nx()));
  divergence(flow, 1.0, out);
  double worst = 0.0;
  const int nx = flow.nx();
  Kokkos::parallel_reduce(
      "largest divergence", Range(0, rows),
      KOKKOS_LAMBDA(int k, double& most) {
        for (int i = 0; i < nx; ++i)
          if (const double here = std::fabs(out(k, i)); here > most) most = here;
      },
      Kokkos::Max<double>(worst));
  return worst;
}

}  // namespace cambium::superres
