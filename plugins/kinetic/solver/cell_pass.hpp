#pragma once
#include <algorithm>

#include "plugins/kinetic/solver/edges.hpp"

namespace cambium::kinetic {

/// One stage as devices take it: threads for short pieces of rows of phase space, where `Sweep` has one for each pack
/// of configuration space. A piece lies along the last velocity dimension, whose fluxes pass from cell to cell; those
/// through the lower faces of the others, and of its first cell, are worked out twice, by the cells on both sides.
/// What the cells of a block share is worked out once and read from memory: in the registers of each thread it would
/// leave none for the cell. Moments of the result are a kernel of their own, which adds in a fixed order.
template <class K, class P>
struct CellPass {
  using Work = Edges<K, P>;
  using T = typename P::value_type;
  using Place = typename Work::Place;
  static constexpr int last = K::vdim - 1;

  Work w;
  View<int*> tiles;
  View<Block<K, P>*> shared;   ///< [block], filled by load_blocks()
  int pieces = 1, length = 1;  ///< of a row; cells of a piece

  /// Enough threads to fill a device, and no more cells in one than a row has.
  CellPass(const Work& work, const View<int*>& which, const View<Block<K, P>*>& blocks)
      : w(work), tiles(which), shared(blocks) {
    constexpr std::int64_t threads = 1 << 18;
    const std::int64_t cells = std::int64_t{w.layout.blocks()} * w.layout.velocity_cells;
    length = static_cast<int>(std::clamp<std::int64_t>(cells / threads, 1, w.layout.nv[last]));
    pieces = (w.layout.nv[last] + length - 1) / length;
  }

  CAMBIUM_FN int rows() const { return w.layout.velocity_cells / w.layout.nv[last]; }
  int items() const { return static_cast<int>(tiles.size()) * w.tile * rows() * pieces; }

  /// What flows through the lower face of cell f across velocity dimension D.
  template <int D, bool upwind_flux>
  CAMBIUM_FN void from_below(const Block<K, P>& here, const P* f, const int* at, const Place& p, P most,
                             P* below) const {
    constexpr int F = K::face(K::cdim + D);
    for (int k = 0; k < F; ++k) below[k] = P(T(0));
    if (at[D] == 0) return;
    P lower[F], upper[F];
    K::template trace<K::cdim + D>(f - std::int64_t{w.layout.velocity_stride(D)} * K::modes, T(1), lower);
    K::template trace<K::cdim + D>(f, T(-1), upper);
    here.template flux<D>(lower, upper, p.W, p.H, upwind_flux ? P(T(0)) : most, below);
  }

  /// Adds the acceleration to a cell of the result; `row` is what came through its lower face along the row, and then
  /// what goes through the upper one. Returns the sum of the bounds of |acceleration| 2/dv.
  template <bool upwind_flux>
  CAMBIUM_FN P accelerate(const Block<K, P>& here, const P* f, const int* at, const Place& p, bool first, P* row,
                          P* to) const {
    P sum(T(0));
    for_each_index<K::vdim>([&](auto d) {
      constexpr int D = decltype(d)::value;
      P fresh[K::face(K::cdim + D)];
      P* const below = D == last ? row : fresh;
      const P most = here.largest(D, p.W, p.H);
      sum += most;
      if (D != last || first) from_below<D, upwind_flux>(here, f, at, p, most, below);
      const P* above = at[D] + 1 < w.layout.nv[D] ? f + std::int64_t{w.layout.velocity_stride(D)} * K::modes : nullptr;
      if constexpr (upwind_flux)
        here.template push_upwind<D>(f, above, p.W, p.H, below, to);
      else
        here.template push<D>(f, above, p.W, most, below, to);
    });
    return sum;
  }

  template <bool upwind_flux>
  CAMBIUM_FN T piece(int block, int row, int from) const {
    const Block<K, P>& here = shared(block);
    const auto sides = w.around(block);
    int at[K::vdim];
    for (int e = last - 1, rest = row; e >= 0; --e) at[e] = rest % w.layout.nv[e], rest /= w.layout.nv[e];
    const int to = from + length < w.layout.nv[last] ? from + length : w.layout.nv[last];
    P carried[K::face(K::cdim + last)], fastest(T(0));
    for (int j = from; j < to; ++j) {
      at[last] = j;
      const int iv = row * w.layout.nv[last] + j;
      const Place p = Place::at(w.layout, at);
      const std::int64_t cell = w.layout.cell(block, iv);
      P result[K::modes], speed(T(0));  // in registers until all is added
      w.stream(sides, w.in + cell, cell, iv, at, p, result);
      if (w.electric) speed = accelerate<upwind_flux>(here, w.in + cell, at, p, j == from, carried, result);
      for (int k = 0; k < K::modes; ++k) w.out[cell + k] = result[k];
      fastest = max(fastest, p.frequency(speed));
    }
    return Work::largest(fastest);
  }

  template <bool upwind_flux>
  CAMBIUM_FN T largest_of(int item) const {
    const int per_block = rows() * pieces, which = item / per_block, rest = item % per_block;
    const int block = tiles(which / w.tile) * w.tile + which % w.tile, row = rest / pieces;
    return block < w.layout.blocks() ? piece<upwind_flux>(block, row, rest % pieces * length) : T(0);
  }
  /// A kernel for each flux: one with both would have the registers of the greedier.
  template <bool upwind_flux>
  struct Cells {
    CellPass pass;
    CAMBIUM_FN void operator()(int item, T& most) const {
      const T here = pass.template largest_of<upwind_flux>(item);
      if (here > most) most = here;
    }
  };

  /// Returns the largest frequency.
  T run() const {
    T fastest = 0;
    if (items() == 0) return fastest;
    if (w.upwind_nodes)
      Kokkos::parallel_reduce("kinetic: cells", Range(0, items()), Cells<true>{*this}, Kokkos::Max<T>(fastest));
    else
      Kokkos::parallel_reduce("kinetic: cells", Range(0, items()), Cells<false>{*this}, Kokkos::Max<T>(fastest));
    return fastest;
  }

  /// What the cells of each block share in a stage, which run() reads.
  static void load_blocks(const Work& w, View<Block<K, P>*>& blocks) {
    if (blocks.size() == 0)
      blocks =
          View<Block<K, P>*>(Kokkos::view_alloc(Kokkos::WithoutInitializing, "kinetic: blocks"), w.layout.blocks());
    const auto to = blocks;
    Kokkos::parallel_for(
        "kinetic: blocks", Range(0, w.layout.blocks()), KOKKOS_LAMBDA(int block) { w.load(to(block), block); });
  }

  /// Adds the moments of f: a team for each block.
  static void add_moments(const Work& w, const P* f) {
    using Policy = Kokkos::TeamPolicy<ExecSpace>;
    Kokkos::parallel_for(
        "kinetic: moments", Policy(w.layout.blocks(), device_is_host ? 1 : 128),
        KOKKOS_LAMBDA(const typename Policy::member_type& team) {
          const int block = team.league_rank();
          P m[Work::moments];
          for (auto& x : m) x = P(T(0));
          for (int iv = team.team_rank(); iv < w.layout.velocity_cells; iv += team.team_size()) {
            const auto p = Place::of(w.layout, iv);
            K::moments(f + w.layout.cell(block, iv), p.w, p.h, p.square, m);
          }
          for (int k = 0; k < Work::moments; ++k)
            for (int l = 0; l < P::width; ++l) {
              double sum = static_cast<double>(m[k][l]);
              team.team_reduce(Kokkos::Sum<double>(sum));
              if (team.team_rank() == 0) w.moment[(std::int64_t{block} * Work::moments + k) * P::width + l] += sum;
            }
        });
  }
};

/// Adds the moments of f as a host does: the velocity cells of a pack of configuration space one after the other.
template <class K, class P>
void add_moments_by_packs(const Edges<K, P>& w, const P* f) {
  using Work = Edges<K, P>;
  if constexpr (device_is_host)
    Kokkos::parallel_for(
        "kinetic: moments", Range(0, w.layout.blocks()), KOKKOS_LAMBDA(int block) {
          for (int iv = 0; iv < w.layout.velocity_cells; ++iv) {
            const auto p = Work::Place::of(w.layout, iv);
            P m[Work::moments];
            for (auto& x : m) x = P(typename P::value_type(0));
            K::moments(f + w.layout.cell(block, iv), p.w, p.h, p.square, m);
            w.flush(block, m);
          }
        });
}

}  // namespace cambium::kinetic
