#pragma once
#include <algorithm>

#include "plugins/kinetic/solver/team_rows.hpp"

namespace cambium::kinetic {

/// One stage on devices: a thread for each cell of phase space, where `Sweep` has one for each pack of configuration
/// space; a team takes consecutive cells (see TeamRows). Fluxes through the faces between cells are computed twice, by
/// the cells on both sides. Data common to the cells of a block are computed once and read from memory: in the
/// registers of each thread they would leave no room for the cell. Moments of the result have kernels of their own,
/// which add in a fixed order.
template <class K, class P>
struct CellPass {
  using Work = Edges<K, P>;
  using Rows = TeamRows<K, P>;
  using Member = typename Rows::Member;
  using T = typename P::value_type;
  using Place = typename Work::Place;
  static constexpr int last = K::vdim - 1;

  Work w;
  View<int*> tiles;
  View<Block<K, P>*> shared;  ///< [block], filled by load_blocks()

  /// The cells of a team.
  struct Cells {
    int block, first, count;  ///< first of the velocity cells, and how many there are
  };
  CAMBIUM_FN static int chunks(const Layout& layout) { return (layout.velocity_cells + Rows::size - 1) / Rows::size; }
  CAMBIUM_FN static Cells chunk(const Layout& layout, int block, int which) {
    const int first = which * Rows::size, rest = layout.velocity_cells - first;
    return {block, first, rest < Rows::size ? rest : Rows::size};
  }
  int teams() const { return static_cast<int>(tiles.size()) * w.tile * chunks(w.layout); }

  /// A thread and its cell. Threads beyond the last cell have none and only help to copy.
  struct Turn {
    const Rows& rows;
    const Cells& cells;
    const Block<K, P>& here;
    typename Work::Around sides;
    bool any;
    int iv, at[K::vdim], next;  ///< next: from f to the cell after it
    const P* f;
    Place p;
  };
  CAMBIUM_FN Turn turn(const Rows& rows, const Cells& cells) const {
    const bool any = rows.rank() < cells.count;
    const int iv = cells.first + (any ? rows.rank() : 0);
    Turn out{rows, cells, shared(cells.block), w.around(cells.block), any, iv, {}, 0, nullptr, Place::of(w.layout, iv)};
    for (int e = 0; e < K::vdim; ++e) out.at[e] = w.layout.velocity_place(iv, e);
    if constexpr (Rows::keeps_own) {
      const int before = cells.first > 0 ? 1 : 0, after = cells.first + cells.count < w.layout.velocity_cells ? 1 : 0;
      rows.load(w.in + w.layout.cell(cells.block, cells.first) - K::modes, 1 - before, 1 + cells.count + after,
                rows.own);
      out.f = rows.own + (iv - cells.first + 1) * Rows::stride;
      out.next = Rows::stride;
    } else {
      out.f = w.in + w.layout.cell(cells.block, iv);
      out.next = K::modes;
    }
    return out;
  }

  /// Makes the result base a + b f and the streaming.
  CAMBIUM_FN void stream(const Turn& my, P* to) const {
    for_each_index<K::cdim>([&](auto d) {
      constexpr int D = decltype(d)::value;
      const bool up = my.p.up[D];
      P t[K::face(D)];
      const int from = my.any ? of_side(my.sides.from[D], up) : -1;
      my.rows.gather(w.layout, w.in, my.cells.first, from);
      if (my.any) w.template upwind<D>(from >= 0 ? my.rows.row() : nullptr, my.sides, my.at, up, t);
      my.rows.team.team_barrier();
      if (D == 0 && w.a != T(0))
        my.rows.load(w.base + w.layout.cell(my.cells.block, my.cells.first), 0, my.cells.count, my.rows.other);
      if (my.any) w.template stream_along<D>(my.f, my.rows.row(), t, my.p, to);
      if (D == 0 && w.a != T(0)) my.rows.team.team_barrier();
    });
  }

  /// Flux through the face between `lower` and f across velocity dimension D.
  template <int D, bool upwind_flux, bool stretched>
  CAMBIUM_FN void from_below(const Turn& my, const P* lower_cell, P most, P* below) const {
    P lower[K::face(K::cdim + D)], upper[K::face(K::cdim + D)];
    K::template trace<K::cdim + D>(lower_cell, T(1), lower);
    K::template trace<K::cdim + D>(my.f, T(-1), upper);
    my.here.template flux<D, stretched>(lower, upper, my.p.W, my.p.H, upwind_flux ? P(T(0)) : most, below);
  }

  /// The rows become the cells `step` velocity cells from the team's; those outside the block stay as they are.
  CAMBIUM_FN void neighbours(const Turn& my, int step) const {
    const int first = my.cells.first + step, all = w.layout.velocity_cells;
    const int from = first < 0 ? -first : 0, to = first + my.cells.count > all ? all - first : my.cells.count;
    my.rows.load(w.in + w.layout.cell(my.cells.block, 0) + std::int64_t{first} * K::modes, from, to, my.rows.other);
  }

  /// Adds the acceleration along D and returns its bound |acceleration| 2/dv.
  template <int D, bool upwind_flux, bool stretched>
  CAMBIUM_FN P accelerate_along(const Turn& my, P* to) const {
    const int stride = w.layout.velocity_stride(D);
    const bool beside = D == last;  // neighbours are among the team's own cells
    const P most = my.here.largest(D, my.p.W, my.p.H);
    P below[K::face(K::cdim + D)];
    for (auto& b : below) b = P(T(0));
    if (!beside) neighbours(my, -stride);
    if (my.any && my.at[D] > 0)
      from_below<D, upwind_flux, stretched>(my, beside ? my.f - my.next : my.rows.row(), most, below);
    if (!beside) {
      my.rows.team.team_barrier();
      neighbours(my, stride);
    }
    if (my.any) {
      const P* above = my.at[D] + 1 < w.layout.nv[D] ? (beside ? my.f + my.next : my.rows.row()) : nullptr;
      if constexpr (stretched)
        Work::template push_scaled<D, upwind_flux>(my.here, my.f, above, my.p, most, below, to);
      else if constexpr (upwind_flux)
        my.here.template push_upwind<D, false>(my.f, above, my.p.W, my.p.H, below, to);
      else
        my.here.template push<D, false>(my.f, above, my.p.W, my.p.H, most, below, to);
    }
    if (!beside) my.rows.team.team_barrier();
    return stretched ? most * P(my.p.inverse[D]) : most;
  }

  template <bool upwind_flux, bool stretched>
  CAMBIUM_FN T largest_of(const Member& team) const {
    const int per_block = chunks(w.layout), which = team.league_rank() / per_block;
    const int block = tiles(which / w.tile) * w.tile + which % w.tile;
    if (block >= w.layout.blocks()) return T(0);
    const Cells cells = chunk(w.layout, block, team.league_rank() % per_block);
    const Rows rows(team);
    const Turn my = turn(rows, cells);
    P result[K::modes], speed(T(0));  // in registers until all is added
    stream(my, result);
    if (w.electric)
      for_each_index<K::vdim>(
          [&](auto d) { speed += accelerate_along<decltype(d)::value, upwind_flux, stretched>(my, result); });
    if (my.any)
      for (int k = 0; k < K::modes; ++k) rows.row()[k] = result[k];
    rows.store(cells.count, w.out + w.layout.cell(block, cells.first));
    return my.any ? Work::largest(my.p.frequency(speed)) : T(0);
  }
  /// A kernel for each flux and kind of grid: one with all would have the registers of the greediest.
  template <bool upwind_flux, bool stretched>
  struct Stage {
    CellPass pass;
    CAMBIUM_FN void operator()(const Member& team, T& most) const {
      const T here = pass.template largest_of<upwind_flux, stretched>(team);
      if (here > most) most = here;
    }
  };

  /// Returns the largest frequency.
  T run() const {
    if (w.layout.stretched) return w.upwind_nodes ? run_as<true, true>() : run_as<false, true>();
    return w.upwind_nodes ? run_as<true, false>() : run_as<false, false>();
  }
  template <bool upwind_flux, bool stretched>
  T run_as() const {
    T fastest = 0;
    if (teams() == 0) return fastest;
    Kokkos::parallel_reduce("kinetic: cells", Rows::policy(teams()), Stage<upwind_flux, stretched>{*this},
                            Kokkos::Max<T>(fastest));
    return fastest;
  }

  /// Common part of the cells of each block in a stage, which run() reads.
  static void load_blocks(const Work& w, View<Block<K, P>*>& blocks) {
    if (blocks.size() == 0)
      blocks =
          View<Block<K, P>*>(Kokkos::view_alloc(Kokkos::WithoutInitializing, "kinetic: blocks"), w.layout.blocks());
    const auto to = blocks;
    Kokkos::parallel_for(
        "kinetic: blocks", Range(0, w.layout.blocks()), KOKKOS_LAMBDA(int block) { w.load(to(block), block); });
  }
};

}  // namespace cambium::kinetic
