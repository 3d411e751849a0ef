#include "plugins/superres/convection/statistics.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/base/error.hpp"
#include "core/parallel/sums.hpp"
#include "plugins/superres/convection/rows.hpp"

namespace cambium::superres {
namespace {

constexpr int sums = 9;
using MeanSums = Sums<sums>;
constexpr double Means::*members[sums] = {&Means::kinetic, &Means::flux_x,   &Means::flux_z,
                                          &Means::strain,  &Means::gradient, &Means::bottom,
                                          &Means::top,     &Means::left,     &Means::right};

/// Adds the contribution of row k; lengths are in units of the box, so that the sums are means.
struct RowSums {
  Fields f;
  View<double*> height, inverse_height, inverse_between;
  RowLayout layout;
  double dx, dy, area;  ///< of a section z, x of the box; dy only in three dimensions
  int nx, m;
  bool periodic, at_bottom, at_top;

  KOKKOS_INLINE_FUNCTION static double square(double x) { return x * x; }

  /// Adds squared differences across face k of u, v and b, times the length they represent; `share`: fraction of it.
  KOKKOS_INLINE_FUNCTION void add_face(MeanSums& s, int k, int i, double share) const {
    const double ib = inverse_between(k), weight = share / ib * dx / area;
    s.v[3] += square((f(field_u, k, i) - f(field_u, k - 1, i)) * ib) * weight;
    s.v[4] += square((f(field_b, k, i) - f(field_b, k - 1, i)) * ib) * weight;
    if (layout.spatial) s.v[3] += square((f(field_v, k, i) - f(field_v, k - 1, i)) * ib) * weight;
  }
  KOKKOS_INLINE_FUNCTION void add_cell(MeanSums& s, int k, int i) const {
    const double h = height(k), cell = h * dx / area, face = dx / inverse_between(k) / area;
    const double u = f(field_u, k, i), w = f(field_w, k, i);
    s.v[0] += 0.5 * (u * u * cell + w * w * face);
    s.v[1] += 0.5 * u * (f(field_b, k, i - 1) + f(field_b, k, i)) * cell;
    s.v[2] += 0.5 * w * (f(field_b, k - 1, i) + f(field_b, k, i)) * face;
    s.v[3] += (square((f(field_u, k, i + 1) - u) / dx) + square((f(field_w, k + 1, i) - w) * inverse_height(k))) * cell;
    const bool wall = at_bottom && k == 1;
    add_face(s, k, i, wall ? 0.5 : 1.0);
    if (at_top && k == m) add_face(s, k + 1, i, 0.5);
    if (wall) s.v[5] += (f(field_b, 0, i) - f(field_b, 1, i)) * inverse_between(1) / (nx * layout.lines);
    if (at_top && k == m)
      s.v[6] += (f(field_b, m, i) - f(field_b, m + 1, i)) * inverse_between(m + 1) / (nx * layout.lines);
  }
  /// Adds differences along x of w and b across the left face of column i.
  KOKKOS_INLINE_FUNCTION void add_side(MeanSums& s, int k, int i, double share) const {
    const double face = dx / inverse_between(k) / area, cell = height(k) * dx / area;
    s.v[3] += share * square((f(field_w, k, i) - f(field_w, k, i - 1)) / dx) * face;
    s.v[4] += share * square((f(field_b, k, i) - f(field_b, k, i - 1)) / dx) * cell;
  }
  /// Adds the energy of v, its differences along x and y, and those along y of u, w and b.
  KOKKOS_INLINE_FUNCTION void add_depth(MeanSums& s, int k, int i) const {
    const double cell = height(k) * dx / area, face = dx / inverse_between(k) / area;
    const int front = i - layout.pitch;
    const double v = f(field_v, k, i);
    s.v[0] += 0.5 * v * v * cell;
    s.v[3] += (square((f(field_v, k, i + layout.pitch) - v) / dy) + square((v - f(field_v, k, i - 1)) / dx) +
               square((f(field_u, k, i) - f(field_u, k, front)) / dy)) *
              cell;
    s.v[3] += square((f(field_w, k, i) - f(field_w, k, front)) / dy) * face;
    s.v[4] += square((f(field_b, k, i) - f(field_b, k, front)) / dy) * cell;
  }
  KOKKOS_INLINE_FUNCTION void operator()(int line, MeanSums& s) const {
    const int k = line / layout.lines, begin = layout.begin(line % layout.lines), end = begin + nx;
    for (int i = begin; i < end; ++i) {
      add_cell(s, k, i);
      add_side(s, k, i, !periodic && i == margin ? 0.5 : 1.0);
      if (layout.spatial) add_depth(s, k, i);
    }
    if (periodic) return;
    add_side(s, k, end, 0.5);
    const double share = height(k) / dx / (area / (nx * dx));
    s.v[7] += (f(field_b, k, margin - 1) - f(field_b, k, margin)) * share;
    s.v[8] += (f(field_b, k, end - 1) - f(field_b, k, end)) * share;
  }
};

double largest(const Flow& flow, int field) {
  const auto f = flow.fields;
  const RowLayout layout = flow.layout;
  double most = 0.0;
  Kokkos::parallel_reduce(
      "largest", Range(layout.lines, layout.lines * (flow.rows() + 1)),
      KOKKOS_LAMBDA(int line, double& value) {
        const int k = line / layout.lines, begin = layout.begin(line % layout.lines);
        for (int i = begin; i < begin + layout.nx; ++i)
          if (std::fabs(f(field, k, i)) > value) value = std::fabs(f(field, k, i));
      },
      Kokkos::Max<double>(most));
  return most;
}

}  // namespace

Means means_of(const Flow& flow, const Comm& comm) {
  const Slab& s = flow.slab;
  const Grid& g = s.grid;
  const int lines = flow.layout.lines;
  const RowSums rows{flow.fields,
                     s.height,
                     s.inverse_height,
                     s.inverse_between,
                     flow.layout,
                     g.dx(),
                     g.spatial() ? g.dy() : 0.0,
                     g.lx * g.lz * lines,
                     g.nx,
                     s.rows,
                     g.periodic,
                     s.bottom(),
                     s.top()};
  MeanSums total;
  Kokkos::parallel_reduce("means", Range(lines, lines * (s.rows + 1)), rows, Kokkos::Sum<MeanSums>(total));
  comm.sum(std::span<double>(total.v, sums));
  Means means;
  for (int k = 0; k < sums; ++k) means.*members[k] = total.v[k];
  return means;
}

void find_largest(Means& means, const Flow& flow, const Comm& comm) {
  double most[] = {largest(flow, field_u), largest(flow, field_w)};
  comm.max(std::span<double>(most));
  means.largest_u = most[0];
  means.largest_w = most[1];
}

void TimeAverages::add(const Means& means, double weight) {
  for (int k = 0; k < sums; ++k) sums_[k] += weight * (means.*members[k]);
  weight_ += weight;
  ++samples_;
}

Result TimeAverages::kinetic_energy(const Means& mean) const {
  return {"averages_kinetic_energy",
          fmt::format("averages over {:.6g} free-fall times ({} instants): kinetic energy", weight_, samples_),
          mean.kinetic};
}

Means TimeAverages::mean() const {
  if (weight_ <= 0.0) throw InternalError("averages over zero time were requested");
  Means means;
  for (int k = 0; k < sums; ++k) means.*members[k] = sums_[k] / weight_;
  return means;
}

void TimeAverages::save(io::Group& group) const {
  group.write("average_sums", sums_);
  group.write("average_weight", weight_);
  group.write("average_samples", samples_);
}

void TimeAverages::load(const io::Group& group) {
  sums_ = group.read<std::vector<double>>("average_sums");
  weight_ = group.read<double>("average_weight");
  samples_ = group.read<std::int64_t>("average_samples");
}

}  // namespace cambium::superres
