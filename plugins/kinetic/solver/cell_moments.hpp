#pragma once
#include <algorithm>

#include "plugins/kinetic/solver/cell_pass.hpp"

namespace cambium::kinetic {

/// Moments as summed on devices: teams for parts of each block's velocity cells, and then the parts in order, so that
/// runs are bitwise reproducible.
template <class K, class P>
struct CellMoments {
  using Pass = CellPass<K, P>;
  using Work = Edges<K, P>;
  using Rows = TeamRows<K, P>;
  static constexpr int count = Work::moments * P::width;  ///< values of a block

  Work w;
  const P* f;
  int parts, chunks_each;  ///< of a block; chunks of a part
  View<double*> sums;      ///< [block][part][count]

  /// Parts enough to fill a device; `held` keeps their memory from call to call.
  CellMoments(const Work& work, const P* cells, View<double*>& held) : w(work), f(cells) {
    const int chunks = Pass::chunks(w.layout), wanted = std::clamp(1024 / w.layout.blocks(), 1, chunks);
    chunks_each = (chunks + wanted - 1) / wanted;
    parts = (chunks + chunks_each - 1) / chunks_each;
    const auto size = static_cast<std::size_t>(w.layout.blocks()) * parts * count;
    if (held.size() != size)
      held = View<double*>(Kokkos::view_alloc(Kokkos::WithoutInitializing, "kinetic: parts of moments"), size);
    sums = held;
  }

  CAMBIUM_FN void operator()(const typename Rows::Member& team) const {
    const int block = team.league_rank() / parts, part = team.league_rank() % parts;
    const Rows rows(team);
    P m[Work::moments];
    for (auto& x : m) x = P(typename P::value_type(0));
    const int chunks = Pass::chunks(w.layout),
              end = (part + 1) * chunks_each < chunks ? (part + 1) * chunks_each : chunks;
    for (int k = part * chunks_each; k < end; ++k) {
      const auto cells = Pass::chunk(w.layout, block, k);
      rows.load(f + w.layout.cell(block, cells.first), 0, cells.count, rows.other);
      if (rows.rank() < cells.count) {
        const auto p = Work::Place::of(w.layout, cells.first + rows.rank());
        w.moments_of(rows.row(), p, m);
      }
      team.team_barrier();
    }
    for (int k = 0; k < Work::moments; ++k)
      for (int l = 0; l < P::width; ++l) {
        double sum = static_cast<double>(m[k][l]);
        team.team_reduce(Kokkos::Sum<double>(sum));
        if (team.team_rank() == 0) sums[std::int64_t{team.league_rank()} * count + k * P::width + l] = sum;
      }
  }

  /// Adds the moments of f to those of the work.
  static void add(const Work& work, const P* cells, View<double*>& held) {
    const CellMoments all(work, cells, held);
    Kokkos::parallel_for("kinetic: moments", Rows::policy(work.layout.blocks() * all.parts), all);
    const int parts = all.parts;
    const auto sums = all.sums;
    double* const moment = work.moment;
    Kokkos::parallel_for(
        "kinetic: sum of moments", Range(0, work.layout.blocks() * count), KOKKOS_LAMBDA(int item) {
          const int block = item / count;
          double sum = moment[item];
          for (int part = 0; part < parts; ++part)
            sum += sums[(std::int64_t{block} * parts + part) * count + item % count];
          moment[item] = sum;
        });
  }
};

/// Adds the moments of f as on hosts: the velocity cells of a pack of configuration space one after the other.
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
            w.moments_of(f + w.layout.cell(block, iv), p, m);
            w.flush(block, m);
          }
        });
}

}  // namespace cambium::kinetic
