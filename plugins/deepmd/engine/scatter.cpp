#include "plugins/deepmd/engine/scatter.hpp"

#include <type_traits>

#include "core/base/pack.hpp"

namespace cambium::deepmd {

namespace {

#if defined(KOKKOS_ENABLE_SERIAL)
constexpr bool one_thread = std::is_same_v<ExecSpace, Kokkos::Serial>;
#else
constexpr bool one_thread = false;
#endif

/// Adds to memory that other work items add to as well.
KOKKOS_INLINE_FUNCTION void shared_add(double* place, double value) {
  if constexpr (one_thread)
    *place += value;
  else
    Kokkos::atomic_add(place, value);
}

constexpr int prefetch_distance = 16;  ///< pairs

/// Of large systems the forces lie in the last cache, and the order of neighbours is none that hardware foresees.
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
                shared_add(&f(j, k), -g);
              },
              own);
          Kokkos::single(Kokkos::PerThread(team), [&] { shared_add(&f(rows(first_row + atom), k), own); });
        }
      });
}

}  // namespace

template <class T>
void scatter_forces(const PairList<T>& list, const View<int*>& rows, int first_row, const View<double* [3]>& gradient,
                    const View<double* [3]>& f) {
  if constexpr (!device_is_host) return team_scatter(list, rows, first_row, gradient, f);
  const Pairs<T> pairs = list;
  Kokkos::parallel_for(
      "deep_potential: forces", Range(0, list.atoms), KOKKOS_LAMBDA(const int atom) {
        double own[3] = {0.0, 0.0, 0.0};
        const int end = pairs.first(atom + 1);
        for (int p = pairs.first(atom); p < end; ++p) {
          if (device_is_host) prefetch_force(pairs.index, p + prefetch_distance, end, f);
          const int j = pairs.index(p);
          if (j < 0) continue;
          for (int k = 0; k < 3; ++k) {
            const double g = gradient(p, k);
            own[k] += g;
            shared_add(&f(j, k), -g);
          }
        }
        for (int k = 0; k < 3; ++k) shared_add(&f(rows(first_row + atom), k), own[k]);
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

template <class T>
void scatter_virials(const PairList<T>& list, const View<double* [3]>& gradient, const View<double* [9]>& atom_virial) {
  const Pairs<T> pairs = list;
  Kokkos::parallel_for(
      "deep_potential: atom virials", Range(0, list.pairs), KOKKOS_LAMBDA(const int p) {
        const int j = pairs.index(p);
        if (j < 0) return;
        for (int a = 0; a < 3; ++a)
          for (int b = 0; b < 3; ++b) shared_add(&atom_virial(j, 3 * a + b), -gradient(p, a) * pairs.geometry(p, b));
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
