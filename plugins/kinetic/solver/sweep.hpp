#pragma once
#include <algorithm>

#include "core/parallel/kokkos.hpp"
#include "plugins/kinetic/solver/block.hpp"

// The loop over cells is one function, however many callers it has.
#if defined(CAMBIUM_SCALAR_PACKS_ONLY) || defined(CAMBIUM_DEVICE_COMPILER)
#define CAMBIUM_CELL_LOOP CAMBIUM_FN
#else
#define CAMBIUM_CELL_LOOP __attribute__((noinline))
#endif

namespace cambium::kinetic {

/// For the lower and the upper side; an index that is known only when it runs would put both into a device's memory.
template <class X>
CAMBIUM_FN X of_side(const X (&both)[2], bool up) {
  return up ? both[1] : both[0];
}

/// One Runge-Kutta stage in one pass over the cells: a configuration-space pack goes through its velocity cells, each
/// velocity face is computed once and kept for the cell above, and moments of the result are summed on the way. Inflow
/// from configuration-space neighbours on other ranks is taken from their messages; that from beyond walls and cuts of
/// velocity space is left out: the solver adds it afterwards.
template <class K, class P>
struct Sweep {
  using T = typename P::value_type;
  static constexpr int components = K::vdim + 2, moments = components * K::conf;

  Layout layout;
  const P* in = nullptr;
  const P* base = nullptr;
  P* out = nullptr;
  const P* fields = nullptr;  ///< [block][vdim + pairs][conf]
  bool electric = false, magnetic = false, upwind_nodes = false;
  T a = 0, b = 1, c = 0;
  double* moment = nullptr;            ///< [block][moments][lane]; null where moments are summed afterwards
  P* scratch = nullptr;                ///< [thread][tile][scratch_size()]: fluxes through lower faces
  int tile = 1;                        ///< blocks that go through velocity space together
  const T* received[K::cdim][2] = {};  ///< what ranks below and above sent: for v < 0, v > 0; null without one
  T* leaving[K::cdim][2] =
      {};        ///< destination of the result's traces that ranks below and above need; null without one
  int slab = 1;  ///< cells of the first velocity dimension that each of them takes in turn

  int tiles() const { return (layout.blocks() + tile - 1) / tile; }
  /// Chooses tile and slab so that what a slab touches stays in a cache of `bytes`.
  void choose_tile(std::int64_t bytes, int threads) {
    slab = K::vdim == 1 ? layout.nv[0] : layout.slab;
    const std::int64_t touched = 3 * sizeof(P) * K::modes * layout.velocity_stride(0) * slab;
    const std::int64_t most = (layout.blocks() + threads - 1) / threads;
    tile = static_cast<int>(std::clamp<std::int64_t>(bytes / touched, 1, most));
    if (tile > layout.packs) tile = tile / layout.packs * layout.packs;  // complete lines along x
  }
  CAMBIUM_FN int lower_count(int d) const { return layout.velocity_stride(d); }
  CAMBIUM_FN int lower_first(int d) const {
    int first = 0;
    for (int e = 0; e < d; ++e) first += lower_count(e) * K::face(K::cdim + e);
    return first;
  }
  CAMBIUM_FN int scratch_size() const { return lower_first(K::vdim - 1) + K::face(K::cdim + K::vdim - 1); }

  using Place = VelocityPlace<K, T>;

  /// Neighbourhood of a block's cells, found once per block: divisions are slow.
  struct Around {
    int from[K::cdim][2];       ///< upwind block for v < 0, v > 0; -1 if it is not local
    const T* sent[K::cdim][2];  ///< what the rank beyond sent for this block instead; null where there is none
    T* left[K::cdim][2];  ///< destination of this block's traces that the rank beyond needs; null if there is none
    bool leaves;          ///< there is such a trace
    bool end[2];          ///< the upwind pack along x is beyond the last lane
    int lane[2];          ///< of the cell that `sent` of x is for; traces leave at the other one
    int lanes;            ///< that hold cells
  };
  CAMBIUM_FN Around around(int block) const {
    Around a;
    const int j = block % layout.packs, last = layout.packs - 1;
    a.lanes = layout.lanes(j);
    a.leaves = false;
    for (int up = 0; up < 2; ++up) {
      const int edge = up ? 0 : layout.nx - 1, far = up ? layout.nx - 1 : 0;
      a.lane[up] = layout.lane_of(edge);
      a.sent[0][up] = j == edge % layout.packs ? of_block<0>(received[0][up], block / layout.packs, up) : nullptr;
      a.left[0][up] = j == far % layout.packs ? of_block<0>(leaving[0][up], block / layout.packs, up) : nullptr;
      a.end[up] = up ? j == 0 : j == last;
      a.from[0][up] = a.end[up] ? block + (up ? last : -last) : block + (up ? -1 : 1);
      for_each_index<K::cdim - 1>([&](auto i) {
        constexpr int D = decltype(i)::value + 1;
        const int n = layout.other[D - 1], at = layout.block_place(block, D), next = up ? at - 1 : at + 1;
        const bool here = (next >= 0 && next < n) || layout.wrapped[D];
        const int stride = layout.block_stride(D), along = block / (stride * n) * stride + block % stride;
        a.from[D][up] = here ? block + ((next + n) % n - at) * stride : -1;
        a.sent[D][up] = here ? nullptr : of_block<D>(received[D][up], along, up);
        a.left[D][up] = at == (up ? n - 1 : 0) ? of_block<D>(leaving[D][up], along, up) : nullptr;
      });
      for (int d = 0; d < K::cdim; ++d) a.leaves |= a.left[d][up] != nullptr;
    }
    return a;
  }

  /// Values per velocity cell of an edge of a configuration dimension: one lane along x, full packs elsewhere.
  template <int D>
  static constexpr int edge_values = D == 0 ? K::face(0) : K::face(D) * P::width;

  /// Cells of velocity dimension d that move towards higher x_d, or towards lower.
  CAMBIUM_FN int moving(int d, bool up) const { return up ? layout.nv[d] - layout.backward[d] : layout.backward[d]; }
  CAMBIUM_FN int moving_cells(int d, bool up) const { return layout.velocity_cells / layout.nv[d] * moving(d, up); }
  /// The part of a block along the edge, in the traces of all.
  template <int D, class Value>
  CAMBIUM_FN Value* of_block(Value* all, int edge_block, bool up) const {
    return all ? all + std::int64_t{edge_block} * moving_cells(D, up) * edge_values<D> : nullptr;
  }
  /// Traces of the velocity cell with these indices, in what goes through an edge of dimension D.
  template <int D, class Value>
  CAMBIUM_FN Value* trace_in(Value* sent, const int* at, bool up) const {
    const int n = moving(D, up), first = up ? layout.nv[D] - n : 0;
    int place = 0;
    for (int e = 0; e < K::vdim; ++e) place = e == D ? place * n + at[e] - first : place * layout.nv[e] + at[e];
    return sent + std::int64_t{place} * edge_values<D>;
  }

  /// Outflow of a cell upwards or downwards. One function, so that a trace is bitwise identical for all callers.
  template <int D>
  CAMBIUM_CELL_LOOP void keep_trace(const P* cell, bool up, int lane, T* to) const {
    P t[K::face(D)];
    K::template trace<D>(cell, T(up ? 1 : -1), t);
    for (int k = 0; k < K::face(D); ++k) {
      if constexpr (D == 0)
        to[k] = t[k][lane];
      else
        t[k].store(to + k * P::width);
    }
  }
  /// Stores those of a fresh cell, which is in the first-level cache now: packing it later would fetch it again.
  CAMBIUM_FN void leave(const Around& a, const P* cell, const int* at, const Place& p) const {
    for_each_index<K::cdim>([&](auto d) {
      constexpr int D = decltype(d)::value;
      const bool up = p.up[D];
      if (T* all = a.left[D][up]) keep_trace<D>(cell, up, a.lane[!up], trace_in<D>(all, at, up));
    });
  }

  /// Trace of the upwind neighbour `cell` on the face through which a cell is filled along x_D; null: it is not here.
  template <int D>
  CAMBIUM_FN void upwind(const P* cell, const Around& a, const int* at, bool up, P* t) const {
    const T* const all = of_side(a.sent[D], up);
    if constexpr (D == 0) {
      K::template trace<0>(cell, T(up ? 1 : -1), t);
      if (of_side(a.end, up)) {
        const auto edge = PackMask<T, P::width>::first(up ? 1 : P::width - 1);
        for (int k = 0; k < K::face(0); ++k) {
          t[k] = up ? rotate_up(t[k]) : rotate_down(t[k]);
          if (!layout.wrapped[0]) t[k] = up ? keep(!edge, t[k]) : keep(edge, t[k]);
        }
      }
      if (a.lanes < P::width) {
        const auto filled = PackMask<T, P::width>::first(a.lanes);
        for (int k = 0; k < K::face(0); ++k) t[k] = keep(filled, t[k]);
      }
      if (all) {
        const T* sent = trace_in<0>(all, at, up);
        const int lane = of_side(a.lane, up);
        const auto only = PackMask<T, P::width>::first(lane + 1) & !PackMask<T, P::width>::first(lane);
        for (int k = 0; k < K::face(0); ++k) t[k] = select(only, P(sent[k]), t[k]);
      }
    } else if (cell) {
      K::template trace<D>(cell, T(up ? 1 : -1), t);
    } else if (all) {
      const T* sent = trace_in<D>(all, at, up);
      for (int k = 0; k < K::face(D); ++k) t[k] = P::load(sent + k * P::width);
    } else {
      for (int k = 0; k < K::face(D); ++k) t[k] = P(T(0));
    }
  }

  /// Streaming of a cell along x_D with the upwind trace t: along x writes a base + b f and it to `to`, along the
  /// others adds it. `from` is the cell of `base`, which is not read if a is zero.
  template <int D>
  CAMBIUM_FN void stream_along(const P* f, const P* from, const P* t, const Place& p, P* to) const {
    const T half = T(0.5) * c, w = half * p.W[D], h = half * p.H[D], s = T(p.up[D] ? 1 : -1);
    if constexpr (D > 0)
      K::template stream<D>(f, t, w, h, s, to);
    else if (a != T(0))
      K::template stream0<true>(f, from, b, t, w, h, s, to);
    else
      K::template stream0<false>(f, nullptr, b, t, w, h, s, to);
  }

  /// Writes a base + b f and the streaming of a cell to `to`.
  CAMBIUM_FN void stream(const Around& around, const P* f, std::int64_t cell, int iv, const int* at, const Place& p,
                         P* to) const {
    for_each_index<K::cdim>([&](auto d) CAMBIUM_INLINE_LAMBDA {
      constexpr int D = decltype(d)::value;
      P t[K::face(D)];
      const int from = of_side(around.from[D], p.up[D]);  // along x always a block
      upwind<D>(D == 0 || from >= 0 ? in + layout.cell(from, iv) : nullptr, around, at, p.up[D], t);
      stream_along<D>(f, base + cell, t, p, to);
    });
  }

  /// Returns the sum over dimensions of the bounds of |acceleration| 2/dv. `at` are the indices of the velocity cell.
  template <bool upwind_flux, bool stretched>
  CAMBIUM_FN P accelerate(const Block<K, P>& here, const P* f, int block, int iv, const int* at, const Place& p,
                          P* lower, P* to) const {
    P sum(T(0));
    for_each_index<K::vdim>([&](auto d) CAMBIUM_INLINE_LAMBDA {
      constexpr int D = decltype(d)::value;
      constexpr int F = K::face(K::cdim + D);
      if constexpr (D == K::vdim - 1) look_ahead<4>(block, iv);
      const P most = here.largest(D, p.W, p.H);
      sum += stretched ? most * P(p.inverse[D]) : most;
      int row = 0;  // among the velocity cells with the same index in dimension D that follow each other
      for (int e = D + 1; e < K::vdim; ++e) row = row * layout.nv[e] + at[e];
      P* below = lower + row * F;
      lower += layout.velocity_stride(D) * F;
      if (at[D] == 0)
        for (int k = 0; k < F; ++k) below[k] = P(T(0));
      const P* above = at[D] + 1 < layout.nv[D] ? f + std::int64_t{layout.velocity_stride(D)} * K::modes : nullptr;
      if constexpr (stretched)
        push_scaled<D, upwind_flux>(here, f, above, p, most, below, to);
      else if constexpr (upwind_flux)
        here.template push_upwind<D, false>(f, above, p.W, p.H, below, to);
      else
        here.template push<D, false>(f, above, p.W, p.H, most, below, to);
    });
    return sum;
  }

  /// Adds the acceleration along D to a cell of its own width. Fluxes do not depend on widths, what they change does:
  /// so the same flux leaves one cell and enters the next, to the last bit.
  template <int D, bool upwind_flux>
  CAMBIUM_FN static void push_scaled(const Block<K, P>& here, const P* f, const P* above, const Place& p, P most,
                                     P* below, P* to) {
    P change[K::modes];
    for (auto& x : change) x = P(T(0));
    if constexpr (upwind_flux)
      here.template push_upwind<D, true>(f, above, p.W, p.H, below, change);
    else
      here.template push<D, true>(f, above, p.W, p.H, most, below, change);
    const P scale(p.inverse[D]);
    for (int k = 0; k < K::modes; ++k) to[k] = fma(scale, change[k], to[k]);
  }

  /// Adds the moments of a cell.
  template <bool stretched>
  CAMBIUM_FN static void add_moments(const P* f, const Place& p, P* row) {
    if constexpr (stretched) {
      P own[moments];
      for (auto& m : own) m = P(T(0));
      K::moments(f, p.w, p.h, p.square, own);
      for (int k = 0; k < moments; ++k) row[k] = fma(P(p.volume), own[k], row[k]);
    } else {
      K::moments(f, p.w, p.h, p.square, row);
    }
  }
  CAMBIUM_FN void moments_of(const P* f, const Place& p, P* row) const {
    layout.stretched ? add_moments<true>(f, p, row) : add_moments<false>(f, p, row);
  }

  CAMBIUM_FN void flush(int block, P* row) const {
    double* target = moment + std::int64_t{block} * moments * P::width;
    for (int k = 0; k < moments; ++k) {
      for (int l = 0; l < P::width; ++l) target[k * P::width + l] += static_cast<double>(row[k][l]);
      row[k] = P(T(0));
    }
  }

  /// Prefetches part `N` of six of the data of the next cell but one: the cell above it, its base and its result. In
  /// parts, because a burst would stall the loads of the kernels; the next cell itself would be too late if memory
  /// bandwidth is shared. For cells of few modes it does not pay.
  template <int N>
  CAMBIUM_FN void look_ahead(int block, int iv) const {
#if defined(__GNUC__) && !defined(CAMBIUM_SCALAR_PACKS_ONLY) && !defined(CAMBIUM_DEVICE_COMPILER)
    if constexpr (K::modes < 16) return;
    constexpr int line = sizeof(P) < 64 ? 64 / sizeof(P) : 1;  // packs in a cache line: one of them fetches it
    constexpr int half = K::modes / 2 / line * line, from = N % 2 ? half : 0, to = N % 2 ? K::modes : half;
    const P* cell = nullptr;
    const int next = iv + 2;
    if (next >= layout.velocity_cells) return;
    if constexpr (N < 2) {
      if (const int above = next + layout.velocity_stride(0); above < layout.velocity_cells)
        cell = in + layout.cell(block, above);
    } else if constexpr (N < 4) {
      if (a != T(0)) cell = base + layout.cell(block, next);
    } else {
      cell = out + layout.cell(block, next);
    }
    if (cell)
      for (int k = from; k < to; k += line) __builtin_prefetch(cell + k, 0, 2);
#else
    (void)block, (void)iv;
#endif
  }

  /// Advances one cell; adds to the moments of its row and returns the largest frequency of the pack.
  template <bool upwind_flux, bool stretched>
  CAMBIUM_FN P advance(const Block<K, P>& here, const Around& sides, int block, int iv, const int* at, P* lower,
                       P* row) const {
    const Place p = Place::template at<stretched>(layout, at);
    const std::int64_t cell = layout.cell(block, iv);
    const P* f = in + cell;
    look_ahead<0>(block, iv);
    look_ahead<1>(block, iv);
    stream(sides, f, cell, iv, at, p, out + cell);
    look_ahead<2>(block, iv);
    look_ahead<3>(block, iv);
    const P speed =
        electric ? accelerate<upwind_flux, stretched>(here, f, block, iv, at, p, lower, out + cell) : P(T(0));
    look_ahead<5>(block, iv);
    if (sides.leaves) leave(sides, out + cell, at, p);
    add_moments<stretched>(out + cell, p, row);
    return p.frequency(speed);
  }

  CAMBIUM_FN void load(Block<K, P>& here, int block) const {
    T half[K::vdim];
    for (int e = 0; e < K::vdim; ++e) half[e] = T(layout.scale(e) * 0.5 * layout.dv[e]);
    here.upwind = upwind_nodes;
    here.load(fields + std::int64_t{block} * (K::vdim + K::pairs) * K::conf, electric, magnetic, half, c);
  }

  /// Advances the cells of a block whose first velocity index is in [first, last).
  CAMBIUM_FN P rows(int block, int first, int last, P* lower) const {
    if (layout.stretched)
      return upwind_nodes ? rows_with<true, true>(block, first, last, lower)
                          : rows_with<false, true>(block, first, last, lower);
    return upwind_nodes ? rows_with<true, false>(block, first, last, lower)
                        : rows_with<false, false>(block, first, last, lower);
  }
  template <bool upwind_flux, bool stretched>
  CAMBIUM_CELL_LOOP P rows_with(int block, int first, int last, P* lower) const {
    Block<K, P> here;
    load(here, block);
    P row[moments], fastest(T(0));
    for (auto& m : row) m = P(T(0));
    const Around sides = around(block);
    int at[K::vdim] = {first};
    const int stride = layout.velocity_stride(0);
    for (int iv = first * stride; iv < last * stride; ++iv) {
      fastest = max(fastest, advance<upwind_flux, stretched>(here, sides, block, iv, at, lower, row));
      for (int e = K::vdim - 1; e >= 0 && ++at[e] == layout.nv[e] && e > 0; --e) {
        if (e == K::vdim - 1) flush(block, row);
        at[e] = 0;
      }
    }
    if (K::vdim == 1) flush(block, row);
    return fastest;
  }

  /// Takes a tile of blocks together through the first velocity dimension, so that neighbours along configuration space
  /// and the cell above are still in the cache. Returns the largest frequency.
  CAMBIUM_FN T run(int which, int thread) const {
    P* lower = scratch + std::int64_t{thread} * tile * scratch_size();
    P fastest(T(0));
    for (int first = 0; first < layout.nv[0]; first += slab) {
      const int last = first + slab < layout.nv[0] ? first + slab : layout.nv[0];
      for (int k = 0; k < tile && which * tile + k < layout.blocks(); ++k)
        fastest = max(fastest, rows(which * tile + k, first, last, lower + std::int64_t{k} * scratch_size()));
    }
    return largest(fastest);
  }

  /// One slab of velocity space of one block, for passes in which two stages follow each other; `scratch` is [block].
  CAMBIUM_FN T run_slab(int block, int s) const {
    const int first = s * layout.slab, last = first + layout.slab < layout.nv[0] ? first + layout.slab : layout.nv[0];
    return largest(rows(block, first, last, scratch + std::int64_t{block} * scratch_size()));
  }

  CAMBIUM_FN static T largest(P values) {
    T most = 0;
    for (int l = 0; l < P::width; ++l) most = values[l] > most ? values[l] : most;
    return most;
  }
};

}  // namespace cambium::kinetic

#undef CAMBIUM_INLINE_LAMBDA
#undef CAMBIUM_CELL_LOOP
