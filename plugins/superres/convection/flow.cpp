#include "plugins/superres/convection/flow.hpp"

namespace cambium::superres {

Flow::Flow(const Slab& s, const Fluid& f)
    : slab(s), fluid(f), layout(RowLayout::of(s.grid)),
      fields("flow", 1 + carried_by(s.grid, f), s.rows + 2, layout.columns()) {}

TensorRef Flow::tensor(int index) const {
  TensorRef t;
  t.data = fields.data() + static_cast<std::size_t>(index) * fields.stride(0) + fields.stride(1) + layout.begin(0);
  t.rank = layout.spatial ? 3 : 2;
  t.shape[0] = rows();
  t.shape[1] = layout.lines;
  t.shape[t.rank - 1] = nx();
  t.stride[0] = static_cast<std::int64_t>(fields.stride(1));
  t.stride[1] = layout.pitch;
  t.stride[t.rank - 1] = 1;
  t.space = device_is_host ? Space::host : Space::device;
  return t;
}

/// Fills ghost lines of a row by periodicity. After its last line the row continues as it began at the first, except
/// for the two ghost columns between them: the valid ones are those that belong to cells.
static void fill_lines(const View<double**>& v, const RowLayout& layout, int first, int last) {
  const int pitch = layout.pitch, period = layout.lines * pitch;
  constexpr int inside = margin - 1;  // from here on the first line has its own
  for_rows(
      "fill lines", first, last, pitch, KOKKOS_LAMBDA(int row, int i) {
        double* const x = &v(row, i);
        Lanes::load(x + period).store(x);
        Lanes::load(x + pitch + inside).store(x + period + pitch + inside);
        if (i > 0) return;
        for (int j = pitch; j < pitch + inside; ++j) x[j] = x[j + period];
      });
}

void fill_columns(const View<double**>& v, const Grid& grid, int first, int last, double sign, double left,
                  double right) {
  const RowLayout layout = RowLayout::of(grid);
  const int nx = grid.nx, lines = layout.lines, end = padded(nx) + 1 - nx;
  const bool periodic = grid.periodic;
  Kokkos::parallel_for(
      "fill columns", Range(first * lines, last * lines), KOKKOS_LAMBDA(int line) {
        double* const x = &v(line / lines, layout.begin(line % lines));
        x[-1] = periodic ? x[nx - 1] : sign * x[0] + left;
        if (periodic)
          for (int j = 0; j < end; ++j) x[nx + j] = x[j < nx ? j : j - nx];
        else
          for (int j = 0; j < end; ++j) x[nx + j] = sign * x[nx - 1] + right;
      });
  if (layout.spatial) fill_lines(v, layout, first, last);
}

void Flow::fill_columns(int index, int first, int last) const {
  double sign = 0.0, left = 0.0, right = 0.0;
  if (index == field_p) sign = 1.0;
  if (index == field_w) sign = -1.0;
  if (index == field_b || index >= first_scalar()) {
    sign = -1.0;
    left = 2.0 * (index == field_b ? fluid.left : scalar(index).left);
    right = 2.0 * (index == field_b ? fluid.right : scalar(index).right);
  }
  superres::fill_columns(field(index), slab.grid, first, last, sign, left, right);
}

/// Ghost rows beyond the plates of one scalar: twice the value on the plate minus that of the next cell, or that value.
static void fill_plates_of(const Flow& flow, int field) {
  const auto f = flow.field(field);
  const Scalar& s = flow.scalar(field);
  const int m = flow.rows(), columns = static_cast<int>(f.extent(1));
  const double sign = s.plates_fix ? -1.0 : 1.0, bottom = s.plates_fix ? 2.0 * s.bottom : 0.0,
               top = s.plates_fix ? 2.0 * s.top : 0.0;
  const bool at_bottom = flow.slab.bottom(), at_top = flow.slab.top();
  Kokkos::parallel_for(
      "fill plates: scalar", Range(0, columns), KOKKOS_LAMBDA(int i) {
        if (at_bottom) f(0, i) = sign * f(1, i) + bottom;
        if (at_top) f(m + 1, i) = sign * f(m, i) + top;
      });
}

void Flow::fill_plates() const {
  const auto f = fields;
  const int m = rows(), columns = static_cast<int>(fields.extent(2));
  const double slip = fluid.plates == Wall::no_slip ? -1.0 : 1.0, conduct = fluid.plates_conduct ? -1.0 : 1.0;
  const double bottom = fluid.plates_conduct ? 2.0 * fluid.bottom : 0.0,
               top = fluid.plates_conduct ? 2.0 * fluid.top : 0.0;
  const bool at_bottom = slab.bottom(), at_top = slab.top(), spatial = layout.spatial;
  Kokkos::parallel_for(
      "fill plates", Range(0, columns), KOKKOS_LAMBDA(int i) {
        if (at_bottom) {
          f(field_u, 0, i) = slip * f(field_u, 1, i);
          f(field_w, 0, i) = f(field_w, 1, i) = 0.0;
          f(field_b, 0, i) = conduct * f(field_b, 1, i) + bottom;
          f(field_p, 0, i) = f(field_p, 1, i);
          if (spatial) f(field_v, 0, i) = slip * f(field_v, 1, i);
        }
        if (at_top) {
          f(field_u, m + 1, i) = slip * f(field_u, m, i);
          f(field_w, m + 1, i) = 0.0;
          f(field_b, m + 1, i) = conduct * f(field_b, m, i) + top;
          f(field_p, m + 1, i) = f(field_p, m, i);
          if (spatial) f(field_v, m + 1, i) = slip * f(field_v, m, i);
        }
      });
  for (int field = first_scalar(); field <= carried(); ++field) fill_plates_of(*this, field);
}

}  // namespace cambium::superres
