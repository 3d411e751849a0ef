#pragma once
#include "plugins/kinetic/solver/sweep.hpp"

namespace cambium::kinetic {

/// The kernels of the edges of this rank's part of phase space: what is sent before a sweep, and what walls and
/// neighbours across velocity cuts add after it. Each takes one edge, a dimension D and a side, and works on the cells
/// along it.
template <class K, class P>
struct Edges : Sweep<K, P> {
  using Base = Sweep<K, P>;
  using Base::c, Base::in, Base::layout, Base::out;
  using typename Base::Place;
  using typename Base::T;

  /// Blocks along an edge of a configuration dimension. Along x they are those of one lane.
  template <int D>
  CAMBIUM_FN int edge_blocks() const {
    return D == 0 ? layout.others : layout.blocks() / layout.other[D > 0 ? D - 1 : 0];
  }
  template <int D>
  CAMBIUM_FN int edge_block(int k, bool high) const {
    if constexpr (D == 0) {
      return layout.block_of(high ? layout.nx - 1 : 0, k);
    } else {
      const int stride = layout.block_stride(D), n = layout.other[D - 1];
      return k / stride * stride * n + (high ? (n - 1) * stride : 0) + k % stride;
    }
  }
  CAMBIUM_FN int edge_lane(bool high) const { return high ? layout.lane_of(layout.nx - 1) : 0; }

  /// The i-th of the velocity cells that move towards higher x_d, or towards lower.
  CAMBIUM_FN int moving_cell(int d, bool up, int i) const {
    const int n = Base::moving(d, up), stride = layout.velocity_stride(d), first = up ? layout.nv[d] - n : 0;
    return i / (stride * n) * stride * layout.nv[d] + (first + i / stride % n) * stride + i % stride;
  }

  /// For the cells that moving_cell() counts, those [first, last) in a slab of velocity space.
  std::pair<int, int> moving_in(int d, bool up, int s) const {
    const int low = s * layout.slab, high = std::min(low + layout.slab, layout.nv[0]);
    const int all = Base::moving_cells(d, up),
              per_row = all / (d == 0 ? std::max(1, Base::moving(0, up)) : layout.nv[0]);
    const int skipped = d == 0 && up ? layout.backward[0] : 0;
    auto place = [&](int row) { return std::clamp((row - skipped) * per_row, 0, all); };
    return {place(low), place(high)};
  }

  /// Cells that a thread packs.
  static constexpr int at_once = P::width > 1 ? 16 : 1;

  /// Outflow through the edge, into buffer[(edge block, moving cell)][edge_values]: the moving cells [first, last) of
  /// edge block k. They are contiguous in memory except for a jump after each row of their dimension: indices are found
  /// by division once per row.
  template <int D>
  CAMBIUM_FN void pack_conf(bool high, int k, int first, int last, T* buffer) const {
    const int block = edge_block<D>(k, high), lane = edge_lane(high),
              row = Base::moving(D, high) * layout.velocity_stride(D);
    T* to = buffer + (std::int64_t{k} * Base::moving_cells(D, high) + first) * Base::template edge_values<D>;
    for (int i = first; i < last;) {
      const int end = (i / row + 1) * row, jump = end < last ? end : last;
      const P* cell = in + layout.cell(block, moving_cell(D, high, i));
      for (; i < jump; ++i, cell += K::modes, to += Base::template edge_values<D>)
        Base::template keep_trace<D>(cell, high, lane, to);
    }
  }

  /// Part `item` of those of all edge blocks: see pack_parts().
  template <int D>
  CAMBIUM_FN void pack_part(bool high, int item, int first, int last, T* buffer) const {
    const int parts = (last - first + at_once - 1) / at_once, from = first + item % parts * at_once;
    pack_conf<D>(high, item / parts, from, from + at_once < last ? from + at_once : last, buffer);
  }
  template <int D>
  CAMBIUM_FN int pack_parts(int first, int last) const {
    return edge_blocks<D>() * ((last - first + at_once - 1) / at_once);
  }

  /// Adds what enters through the edge, where the trace outside is t.
  template <int D>
  CAMBIUM_FN void enter(bool high, int block, int iv, P* t) const {
    if constexpr (D == 0) {
      const int lane = edge_lane(high);
      const auto only = PackMask<T, P::width>::first(lane + 1) & !PackMask<T, P::width>::first(lane);
      for (int k = 0; k < K::face(0); ++k) t[k] = keep(only, t[k]);
    }
    const Place p = Place::of(layout, iv);
    P rhs[K::modes];
    for (auto& r : rhs) r = P(T(0));
    K::template inflow<D>(t, T(0.5) * c * p.W[D], T(0.5) * c * p.H[D], T(high ? -1 : 1), rhs);
    add(block, iv, p, rhs);
  }

  /// A wall that gives back what meets it (mirrored), or that continues the plasma as it is (copied).
  template <int D>
  CAMBIUM_FN void wall(bool high, bool mirrored, int edge, int i) const {
    const int block = edge_block<D>(edge, high), iv = moving_cell(D, !high, i);
    P t[K::widest_face];
    if (mirrored) {
      const int stride = layout.velocity_stride(D), at = layout.velocity_place(iv, D);
      const int image = iv + (layout.nv[D] - 1 - 2 * at) * stride;
      K::template trace<D>(in + layout.cell(block, image), T(high ? 1 : -1), t);
      for (int k = 0; k < K::face(D); ++k)
        if (K::exponents(K::face_modes(D, k), K::cdim + D) % 2) t[k] = -t[k];
    } else {
      K::template trace<D>(in + layout.cell(block, iv), T(high ? -1 : 1), t);
    }
    enter<D>(high, block, iv, t);
  }

  // Edges of velocity dimensions: cells (block, i) with i over the other velocity dimensions.
  CAMBIUM_FN int velocity_edge_cells(int d) const { return layout.velocity_cells / layout.nv[d]; }
  CAMBIUM_FN int velocity_edge_cell(int d, bool high, int i) const {
    const int stride = layout.velocity_stride(d);
    return i / stride * stride * layout.nv[d] + (high ? (layout.nv[d] - 1) * stride : 0) + i % stride;
  }

  template <int D>
  CAMBIUM_FN void pack_velocity(bool high, int item, P* buffer) const {
    const int n = velocity_edge_cells(D);
    const int block = item / n, iv = velocity_edge_cell(D, high, item % n);
    K::template trace<K::cdim + D>(in + layout.cell(block, iv), T(high ? 1 : -1),
                                   buffer + std::int64_t{item} * K::face(K::cdim + D));
  }

  /// Adds the flux through the edge; buffer holds the neighbour's traces.
  template <int D>
  CAMBIUM_FN void unpack_velocity(bool high, int block, const P* buffer) const {
    constexpr int F = K::face(K::cdim + D);
    const int n = velocity_edge_cells(D);
    Block<K, P> here;
    Base::load(here, block);
    for (int i = 0; i < n; ++i) {
      const int iv = velocity_edge_cell(D, high, i);
      const Place p = Place::of(layout, iv);
      const P* outside = buffer + (std::int64_t{block} * n + i) * F;
      P inside[F], G[F], none[F], rhs[K::modes];
      K::template trace<K::cdim + D>(in + layout.cell(block, iv), T(high ? 1 : -1), inside);
      const P *lower = high ? inside : outside, *upper = high ? outside : inside;
      if (layout.stretched)
        here.template flux<D, true>(lower, upper, p.W, p.H, here.largest(D, p.W, p.H), G);
      else
        here.template flux<D, false>(lower, upper, p.W, p.H, here.largest(D, p.W, p.H), G);
      for (auto& r : rhs) r = P(T(0));
      for (auto& g : none) g = P(T(0));
      K::template lift<D>(high ? none : G, high ? G : none, rhs);
      if (layout.stretched)
        for (auto& r : rhs) r *= P(p.inverse[D]);
      add(block, iv, p, rhs);
    }
  }

 private:
  CAMBIUM_FN void add(int block, int iv, const Place& p, P* rhs) const {
    P* target = out + layout.cell(block, iv);
    for (int k = 0; k < K::modes; ++k) target[k] += rhs[k];
    if (!Base::moment) return;
    P m[Base::moments];
    for (auto& x : m) x = P(T(0));
    Base::moments_of(rhs, p, m);
    Base::flush(block, m);
  }
};

}  // namespace cambium::kinetic
