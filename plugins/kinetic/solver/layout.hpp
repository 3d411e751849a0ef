#pragma once
#include <algorithm>
#include <utility>

#include "core/base/pack.hpp"
#include "plugins/kinetic/solver/phase_grid.hpp"

// Loops over dimensions belong into the loop over cells that they stand in.
#if defined(CAMBIUM_SCALAR_PACKS_ONLY) || defined(CAMBIUM_DEVICE_COMPILER)
#define CAMBIUM_INLINE_LAMBDA
#else
#define CAMBIUM_INLINE_LAMBDA __attribute__((always_inline))
#endif

namespace cambium::kinetic {

/// Lane l gets the value of lane l - 1, lane 0 that of the last one.
template <class P>
CAMBIUM_FN P rotate_up(P a) {
#if defined(CAMBIUM_DEVICE_COMPILER)
  static_assert(P::width == 1, "a device's compiler has no vectors");
  return a;
#else
  if constexpr (P::width == 1)
    return a;
  else
    return [&]<int... I>(std::integer_sequence<int, I...>) {
      return P(__builtin_shufflevector(a.v, a.v, ((I + P::width - 1) % P::width)...));
    }
  (std::make_integer_sequence<int, P::width>{});
#endif
}

/// Lane l gets the value of lane l + 1, the last one that of lane 0.
template <class P>
CAMBIUM_FN P rotate_down(P a) {
#if defined(CAMBIUM_DEVICE_COMPILER)
  static_assert(P::width == 1, "a device's compiler has no vectors");
  return a;
#else
  if constexpr (P::width == 1)
    return a;
  else
    return [&]<int... I>(std::integer_sequence<int, I...>) {
      return P(__builtin_shufflevector(a.v, a.v, ((I + 1) % P::width)...));
    }
  (std::make_integer_sequence<int, P::width>{});
#endif
}

/// A cell of a velocity dimension.
struct VelocityCell {
  double centre, width, inverse;  ///< inverse: one over the width
};

/// Position of cells in memory (see Solver), and the geometry that the kernels need. Trivially copyable.
struct Layout {
  int cdim = 1, vdim = 1, width = 1, modes = 1;
  int nx = 1, packs = 1;              ///< cells along x, packs along x
  int other[2] = {1, 1}, others = 1;  ///< cells of the other configuration dimensions
  int nv[3] = {1, 1, 1}, stride[3] = {1, 1, 1}, velocity_cells = 1;
  int slab = 1,
      slabs = 1;        ///< cells of the first velocity dimension that a pass takes at a time, and how many such slabs
  int block_cells = 1;  ///< from a block to the next; more than velocity_cells if two stages use one array
  int backward[3] = {0, 0, 0};                       ///< velocity cells with a negative speed
  double v_first[3] = {0, 0, 0}, dv[3] = {1, 1, 1};  ///< centre of the first local velocity cell, width
  /// Velocity cells have different widths, which `velocities` has for each dimension (VelocityCells::in); `dv` is 1
  /// then, the unit of widths in the factors that cells have in common.
  bool stretched = false;
  const VelocityCell* velocities[3] = {nullptr, nullptr, nullptr};
  double dx[3] = {1, 1, 1}, scales[3] = {1, 1, 1};
  bool wrapped[3] = {false, false, false};  ///< the full periodic dimension is local, neighbours are found by wrapping

  Layout() = default;
  Layout(const PhaseGrid& grid, int lanes, int modes_) : cdim(grid.cdim), vdim(grid.vdim), width(lanes), modes(modes_) {
    stretched = grid.stretched();
    nx = grid.axis[0].count;
    packs = (nx + lanes - 1) / lanes;
    for (int d = 1; d < cdim; ++d) {
      other[d - 1] = grid.axis[d].count;
      others *= grid.axis[d].count;
    }
    for (int d = 0; d < vdim; ++d) {
      const Axis& v = grid.velocity(d);
      nv[d] = v.count;
      velocity_cells *= v.count;
      v_first[d] = v.centre(v.first);
      dv[d] = stretched ? 1.0 : v.width();
      while (backward[d] < nv[d] && v.centre(v.first + backward[d]) < 0.0) ++backward[d];
    }
    for (int d = vdim - 2; d >= 0; --d) stride[d] = stride[d + 1] * nv[d + 1];
    constexpr int enough = 16;  // cells in a row, so that the work per row does not count
    slab = std::min((enough + stride[0] - 1) / stride[0], nv[0]);
    slabs = (nv[0] + slab - 1) / slab;
    block_cells = velocity_cells + shift();
    for (int d = 0; d < cdim; ++d) {
      const Axis& x = grid.axis[d];
      dx[d] = x.width();
      scales[d] = 2.0 / dx[d];
      wrapped[d] = x.low_wall == Wall::periodic && x.ranks == 1 && (d > 0 || packs * lanes == nx);
    }
  }

  CAMBIUM_FN int blocks() const { return others * packs; }
  CAMBIUM_FN std::int64_t cell(int block, int iv) const { return (std::int64_t{block} * block_cells + iv) * modes; }
  std::int64_t size() const { return std::int64_t{blocks()} * block_cells * modes * width; }
  /// Cells by which the result of the first of two fused stages is shifted from that of the second, in the same array:
  /// one slab.
  int shift() const { return width > 1 ? slab * stride[0] : 0; }
  /// Lanes of x pack j that hold cells.
  CAMBIUM_FN int lanes(int j) const { return j < nx ? (nx - j + packs - 1) / packs : 0; }
  CAMBIUM_FN int block_of(int x, int rest) const { return rest * packs + x % packs; }
  CAMBIUM_FN int lane_of(int x) const { return x / packs; }
  /// Velocity cells that differ by one step in dimension d.
  CAMBIUM_FN int velocity_stride(int d) const { return stride[d]; }
  CAMBIUM_FN int velocity_place(int iv, int d) const { return iv / velocity_stride(d) % nv[d]; }
  /// Centre and width of cell i of velocity dimension d.
  CAMBIUM_FN double speed(int d, int i) const { return stretched ? velocities[d][i].centre : v_first[d] + i * dv[d]; }
  CAMBIUM_FN double velocity_width(int d, int i) const { return stretched ? velocities[d][i].width : dv[d]; }
  /// Product of the widths of velocity cell iv, in units of that of `dv`.
  CAMBIUM_FN double velocity_volume(int iv) const {
    double volume = 1.0;
    for (int d = 0; stretched && d < vdim; ++d) volume *= velocities[d][velocity_place(iv, d)].width;
    return volume;
  }
  /// Conf-space neighbours in dimension d >= 1: blocks between two, and the index of a block.
  CAMBIUM_FN int block_stride(int d) const { return d == cdim - 1 ? packs : packs * other[1]; }
  CAMBIUM_FN int block_place(int block, int d) const { return block / block_stride(d) % other[d - 1]; }

  /// Scaled centre (W) and half width (H) of velocity cell iv in dimension e: 2/dx times v where that dimension
  /// streams.
  CAMBIUM_FN double scale(int e) const { return scales[e]; }
};

/// f(integral_constant<0>), f(integral_constant<1>), ... for N values.
template <int N, class F>
CAMBIUM_FN void for_each_index(F&& f) {
  [&]<int... I>(std::integer_sequence<int, I...>) CAMBIUM_INLINE_LAMBDA { (f(std::integral_constant<int, I>{}), ...); }
  (std::make_integer_sequence<int, N>{});
}

/// Everything about one velocity cell that the kernels of configuration K need, in type T.
template <class K, class T>
struct VelocityPlace {
  T W[K::vdim], H[K::vdim];  ///< scaled (Layout::scale)
  T w[K::vdim], h[K::vdim], square;
  bool up[K::vdim];            ///< v > 0
  T inverse[K::vdim], volume;  ///< Layout::dv over the width, and product of widths over dv; only of `stretched` grids

  /// For the velocity cell with number iv.
  CAMBIUM_FN static VelocityPlace of(const Layout& layout, int iv) {
    int indices[K::vdim];
    for (int e = 0; e < K::vdim; ++e) indices[e] = layout.velocity_place(iv, e);
    return layout.stretched ? at<true>(layout, indices) : at<false>(layout, indices);
  }
  /// The same by indices.
  template <bool stretched>
  CAMBIUM_FN static VelocityPlace at(const Layout& layout, const int* indices) {
    VelocityPlace p;
    double square = 0.0, volume = 1.0;
    for (int e = 0; e < K::vdim; ++e) {
      double w, h;
      const double s = layout.scale(e);
      if constexpr (stretched) {
        const VelocityCell& cell = layout.velocities[e][indices[e]];
        w = cell.centre;
        h = 0.5 * cell.width;
        p.inverse[e] = T(cell.inverse);
        volume *= cell.width;
      } else {
        w = layout.v_first[e] + indices[e] * layout.dv[e];
        h = 0.5 * layout.dv[e];
        p.inverse[e] = T(1);
      }
      p.W[e] = T(s * w);
      p.H[e] = T(s * h);
      p.w[e] = T(w);
      p.h[e] = T(h);
      p.up[e] = w > 0.0;
      square += w * w + h * h / 3.0;
    }
    p.square = T(square);
    p.volume = T(volume);
    return p;
  }

  /// The sum of the frequencies that a step must resolve: of streaming, and of this bound of |acceleration| 2/dv.
  template <class P>
  CAMBIUM_FN P frequency(P acceleration) const {
    P sum = T(0.5 * (2 * K::velocity_order + 1)) * acceleration;
    for (int d = 0; d < K::cdim; ++d) sum += P(T(0.5 * (2 * K::order + 1)) * ((up[d] ? W[d] : -W[d]) + H[d]));
    return sum;
  }
};

}  // namespace cambium::kinetic
