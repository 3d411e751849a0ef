#include "plugins/deepmd/engine/scatter.hpp"

#include <cstdint>

#include "core/base/pack.hpp"
#include "core/parallel/host_threads.hpp"

namespace cambium::deepmd {

namespace {

/// Partition of the particle rows over the host's threads, so that no two threads write to the same row and the sum of
/// every row has the order of one thread: each thread visits all pairs and takes those of its own rows.
struct RowShares {
  std::uint32_t parts;

  /// Rows of one cache line belong to one part; rows nearby in space, which are consecutive, to different parts.
  KOKKOS_INLINE_FUNCTION bool mine(int part, int row) const {
    const std::uint32_t mixed = (static_cast<std::uint32_t>(row) >> 4) * 2654435769u;  // Fibonacci hashing
    return parts == 1 || (static_cast<std::uint64_t>(mixed) * parts >> 32) == static_cast<std::uint32_t>(part);
  }
};

RowShares row_shares(std::int64_t pairs) {
  constexpr std::int64_t enough = 1024;
  return {static_cast<std::uint32_t>(device_is_host ? thread_shares(pairs, enough) : 1)};
}

constexpr int prefetch_distance = 16;  ///< pairs

/// In large systems the forces reside in the last-level cache, and hardware cannot predict the order of neighbours.
KOKKOS_INLINE_FUNCTION void prefetch_force(const View<int*>& index, int p, int end, const View<double* [3]>& f) {
#if defined(__GNUC__) && !defined(CAMBIUM_SCALAR_PACKS_ONLY) && !defined(CAMBIUM_DEVICE_COMPILER)
  if (p < end && index(p) >= 0) __builtin_prefetch(&f(index(p), 0), 1);
#endif
}

}  // namespace

namespace {

/// Forces on a device: a team for each atom, a thread for each pair.
template <class T>
void team_scatter(const PairList<T>& list, const View<int*>& rows, int first_row, const View<double* [3]>& gradient,
                  const View<double* [3]>& f) {
  using Policy = Kokkos::TeamPolicy<ExecSpace>;
  const Pairs<T> pairs = list;
  Kokkos::parallel_for(
      "deep_potential: forces", Policy(list.atoms, 1, device_is_host ? 1 : 32),
      KOKKOS_LAMBDA(const typename Policy::member_type& team) {
        const int atom = team.league_rank(), first = pairs.first(atom), n = pairs.first(atom + 1) - first;
        for (int k = 0; k < 3; ++k) {
          double own = 0.0;
          Kokkos::parallel_reduce(
              Kokkos::ThreadVectorRange(team, n),
              [&](const int h, double& sum) {
                const int j = pairs.index(first + h);
                if (j < 0) return;
                const double g = gradient(first + h, k);
                sum += g;
                Kokkos::atomic_add(&f(j, k), -g);
              },
              own);
          Kokkos::single(Kokkos::PerThread(team), [&] { Kokkos::atomic_add(&f(rows(first_row + atom), k), own); });
        }
      });
}

}  // namespace

template <class T>
void scatter_forces(const PairList<T>& list, const View<int*>& rows, int first_row, const View<double* [3]>& gradient,
                    const View<double* [3]>& f) {
  if constexpr (!device_is_host) return team_scatter(list, rows, first_row, gradient, f);
  const Pairs<T> pairs = list;
  const RowShares shares = row_shares(list.pairs);
  const int atoms = list.atoms;
  Kokkos::parallel_for(
      "deep_potential: forces", Range(0, static_cast<int>(shares.parts)), KOKKOS_LAMBDA(const int part) {
        for (int atom = 0; atom < atoms; ++atom) {
          double own[3] = {0.0, 0.0, 0.0};
          const int row = rows(first_row + atom), end = pairs.first(atom + 1);
          const bool owned = shares.mine(part, row);
          for (int p = pairs.first(atom); p < end; ++p) {
            prefetch_force(pairs.index, p + prefetch_distance, end, f);
            const int j = pairs.index(p);
            if (j < 0) continue;
            const bool gives = shares.mine(part, j);
            for (int k = 0; k < 3 && (owned || gives); ++k) {
              const double g = gradient(p, k);
              own[k] += g;
              if (gives) f(j, k) -= g;
            }
          }
          for (int k = 0; k < 3 && owned; ++k) f(row, k) += own[k];
        }
      });
}

template <class T>
void add_virial(const PairList<T>& list, const View<double* [3]>& gradient, double virial[9]) {
  const Pairs<T> pairs = list;
  for (int a = 0; a < 3; ++a) {
    double sum[3] = {0.0, 0.0, 0.0};
    Kokkos::parallel_reduce(
        "deep_potential: virial", Range(0, list.pairs),
        KOKKOS_LAMBDA(const int p, double& x, double& y, double& z) {
          if (pairs.index(p) < 0) return;
          const double g = gradient(p, a);
          x -= g * pairs.geometry(p, 0);
          y -= g * pairs.geometry(p, 1);
          z -= g * pairs.geometry(p, 2);
        },
        sum[0], sum[1], sum[2]);
    for (int b = 0; b < 3; ++b) virial[3 * a + b] += sum[b];
  }
}

/// On a device: a thread for each pair.
template <class T>
static void pair_virials(const PairList<T>& list, const View<double* [3]>& gradient,
                         const View<double* [9]>& atom_virial) {
  const Pairs<T> pairs = list;
  Kokkos::parallel_for(
      "deep_potential: atom virials", Range(0, list.pairs), KOKKOS_LAMBDA(const int p) {
        const int j = pairs.index(p);
        if (j < 0) return;
        for (int a = 0; a < 3; ++a)
          for (int b = 0; b < 3; ++b)
            Kokkos::atomic_add(&atom_virial(j, 3 * a + b), -gradient(p, a) * pairs.geometry(p, b));
      });
}

template <class T>
void scatter_virials(const PairList<T>& list, const View<double* [3]>& gradient, const View<double* [9]>& atom_virial) {
  if constexpr (!device_is_host) return pair_virials(list, gradient, atom_virial);
  const Pairs<T> pairs = list;
  const RowShares shares = row_shares(list.pairs);
  const int count = list.pairs;
  Kokkos::parallel_for(
      "deep_potential: atom virials", Range(0, static_cast<int>(shares.parts)), KOKKOS_LAMBDA(const int part) {
        for (int p = 0; p < count; ++p) {
          const int j = pairs.index(p);
          if (j < 0 || !shares.mine(part, j)) continue;
          for (int a = 0; a < 3; ++a)
            for (int b = 0; b < 3; ++b) atom_virial(j, 3 * a + b) -= gradient(p, a) * pairs.geometry(p, b);
        }
      });
}

#define CAMBIUM_SCATTER(T)                                                                           \
  template void scatter_forces(const PairList<T>&, const View<int*>&, int, const View<double* [3]>&, \
                               const View<double* [3]>&);                                            \
  template void add_virial(const PairList<T>&, const View<double* [3]>&, double*);                   \
  template void scatter_virials(const PairList<T>&, const View<double* [3]>&, const View<double* [9]>&);
CAMBIUM_SCATTER(double)
CAMBIUM_SCATTER(float)

}  // namespace cambium::deepmd
