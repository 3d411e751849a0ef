#include "plugins/superres/convection/projection.hpp"

#include <algorithm>
#include <cmath>

#include "plugins/superres/convection/rows.hpp"

namespace cambium::superres {

Projection::Projection(const Comm& comm, const Slab& slab, int fields, int batch)
    : slab_(slab), batch_(batch), halo_(comm, slab, fields), poisson_(comm, slab, batch),
      phi_("phi", 1, slab.rows + 2, RowLayout::of(slab.grid).columns()) {}

/// Ghost columns must have been filled.
void Projection::start_ghosts(const Flow& flow) {
  flow.fill_plates();
  halo_.start(flow.fields, 0, static_cast<int>(flow.fields.extent(0)));
}

void Projection::finish_ghosts(const Flow& flow) {
  halo_.finish(flow.fields, 0, static_cast<int>(flow.fields.extent(0)));
}

void Projection::fill_ghosts(const Flow& flow) {
  for (int field = 0; field <= flow.carried(); ++field) flow.fill_columns(field, 1, flow.rows() + 1);
  start_ghosts(flow);
  finish_ghosts(flow);
}

/// Divergence of rows first..last-1, times `factor`; `out` has a row for every line of their cells.
static void divergence(const Flow& flow, double factor, int first, int last, const View<double**>& out) {
  const auto f = flow.fields;
  const auto inverse_height = flow.slab.inverse_height;
  const double dx1 = factor / flow.slab.grid.dx();
  const RowLayout layout = flow.layout;
  const int lines = layout.lines, line = layout.pitch;
  const double dy1 = layout.spatial ? factor / flow.slab.grid.dy() : 0.0;
  for_rows(
      "divergence", lines * first, lines * last, flow.nx(), KOKKOS_LAMBDA(int row, int column) {
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
        sum.store(&out(row - lines * first, column));
      });
}

/// Copies phi of the row next to a plate into the ghost row beyond it.
static void mirror_phi(const Fields& phi, int ghost, int row) {
  const int columns = static_cast<int>(phi.extent(2));
  Kokkos::parallel_for(
      "phi on plates", Range(0, columns), KOKKOS_LAMBDA(int i) { phi(0, ghost, i) = phi(0, row, i); });
}

/// Corrects rows first..last-1.
static void correct(const Flow& flow, const Fields& phi, double alpha_dt, bool advance_pressure, int first, int last) {
  const auto f = flow.fields;
  const auto inverse_height = flow.slab.inverse_height, inverse_between = flow.slab.inverse_between;
  const double over_x = alpha_dt / flow.slab.grid.dx(), nu = 0.5 * alpha_dt * flow.fluid.viscosity;
  const bool spatial = flow.layout.spatial;
  const double over_y = spatial ? alpha_dt / flow.slab.grid.dy() : 0.0;
  const int line = flow.layout.pitch;
  for_cells(
      "correction", first, last, flow.layout, KOKKOS_LAMBDA(int k, int i) {
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

void Projection::take(const Flow& flow, double alpha_dt, int first, int last) {
  for (int field = 0; field <= flow.carried(); ++field)
    if (field != field_p) flow.fill_columns(field, first, last);
  divergence(flow, 1.0 / alpha_dt, first, last, poisson_.source);
  poisson_.forward(first, last - first);
}

/// Computes phi in rows first..last-1 with its ghost columns, and adjacent ghost rows beyond a plate.
void Projection::transform_back(int first, int last) {
  const auto phi = Kokkos::subview(phi_, 0, Kokkos::ALL, Kokkos::ALL);
  for (int row = first; row < last; row += batch_) {
    const int count = std::min(batch_, last - row);
    poisson_.rows(phi, row, count);
    fill_columns(phi, slab_.grid, row, row + count, 1.0, 0.0, 0.0);
  }
  if (first >= last) return;
  if (first == 1 && slab_.bottom()) mirror_phi(phi_, 0, 1);
  if (last == slab_.rows + 1 && slab_.top()) mirror_phi(phi_, slab_.rows + 1, slab_.rows);
}

void Projection::correct_rows(const Flow& flow, double alpha_dt, bool advance_pressure, int first, int last) const {
  if (first >= last) return;
  correct(flow, phi_, alpha_dt, advance_pressure, first, last);
  for (const int field : {field_u, field_w, field_p}) flow.fill_columns(field, first, last);
  if (flow.layout.spatial) flow.fill_columns(field_v, first, last);
}

/// Rows that other ranks need come first and are sent while the others are transformed. Each batch is corrected
/// together with the first rows of the next, while it is in cache.
void Projection::apply(const Flow& flow, double alpha_dt, bool advance_pressure) {
  poisson_.solve();
  const int m = slab_.rows, early = slab_.ranks > 1 && m >= 2 * batch_ ? batch_ : 0;
  const int low = slab_.bottom() ? 0 : early, high = slab_.top() ? 0 : early;
  transform_back(1, 1 + low);
  transform_back(m + 1 - high, m + 1);
  const bool together = slab_.ranks > 1 && early == 0;  // a slab of few rows
  if (together) transform_back(1, m + 1);
  halo_.start(phi_, 0, 1);
  const int begin = slab_.bottom() ? 1 : 2, end = slab_.top() ? m + 1 : m;  // rows with owned neighbours
  int corrected = begin;
  const auto correct_to = [&](int last) {
    correct_rows(flow, alpha_dt, advance_pressure, corrected, last);
    corrected = std::max(corrected, last);
  };
  for (int row = 1 + low; !together && row < m + 1 - high; row += batch_) {
    const int last = std::min(row + batch_, m + 1 - high);
    transform_back(row, last);
    correct_to(std::min(last - 1, end));
  }
  correct_to(end);
  halo_.finish(phi_, 0, 1);
  if (begin > 1) correct_rows(flow, alpha_dt, advance_pressure, 1, 2);
  if (end <= m && m > 1) correct_rows(flow, alpha_dt, advance_pressure, m, m + 1);
  start_ghosts(flow);
}

double largest_divergence(const Flow& flow) {
  const int rows = flow.rows() * flow.layout.lines;
  View<double**> out("divergence", rows, padded(flow.nx()));
  divergence(flow, 1.0, 1, flow.rows() + 1, out);
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
