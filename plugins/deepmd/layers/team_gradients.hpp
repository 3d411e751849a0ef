#pragma once
#include "plugins/deepmd/layers/contraction.hpp"
#include "plugins/deepmd/layers/environment.hpp"

namespace cambium::deepmd {

/// The sums over channels from which the gradient of a pair's row comes: along the network's input, along the row.
template <class T>
struct ChannelSums {
  T network = T(0), row[4] = {T(0), T(0), T(0), T(0)};

  KOKKOS_INLINE_FUNCTION ChannelSums& operator+=(const ChannelSums& other) {
    network += other.network;
    for (int k = 0; k < 4; ++k) row[k] += other.row[k];
    return *this;
  }
};

}  // namespace cambium::deepmd

template <class T>
struct Kokkos::reduction_identity<cambium::deepmd::ChannelSums<T>> {
  KOKKOS_FORCEINLINE_FUNCTION static cambium::deepmd::ChannelSums<T> sum() { return {}; }
};

namespace cambium::deepmd {

/// pair_gradients() for devices: a team for each atom, four lanes of a warp for each of its pairs, which share out the
/// channels, so that neighbouring threads read neighbouring coefficients (with all 32 lanes it took 2.2 times as long
/// on an H100). The atom's adjoint lies in the team's memory, component by component, so that threads read it side by
/// side.
template <class T, class Rows>
struct TeamGradients {
  using Policy = Kokkos::TeamPolicy<ExecSpace>;
  using Member = typename Policy::member_type;
  static constexpr int across = device_is_host ? 1 : 4, pairs_at_once = device_is_host ? 1 : 32;
  static constexpr int batch = 64;  ///< pairs whose row gradients lie in the team's memory at once

  Pairs<T> pairs;
  Rows rows;
  int channel_packs, components;
  CutOff cutoff;
  View<double**> inverse;
  Matrix<T> adjoint;
  View<double* [3]> force;

  /// `d` is the adjoint of the pack's channels, its components `stride` numbers apart.
  KOKKOS_INLINE_FUNCTION void add_channels(int p, const T* d, int stride, int pack, ChannelSums<T>& out) const {
    Lane<T> g, slope, along(T(0));
    rows.both(&pairs.slot(p, 0), pairs.point(p, 0), pack, g, slope);
    if (components == 1) {
      out.network += sum(slope * Lane<T>::load(d));
      return;
    }
    for (int k = 0; k < 4; ++k) {
      const Lane<T> dk = Lane<T>::load(d + k * stride);
      along += dk * Lane<T>(pairs.row(p, k));
      out.row[k] += sum(g * dk);
    }
    out.network += sum(slope * along);
  }

  KOKKOS_INLINE_FUNCTION int adjoint_bytes() const {
    return channel_packs * lanes<T> * components * static_cast<int>(sizeof(T));
  }

  KOKKOS_INLINE_FUNCTION void finish(int p, const double* c) const {
    const double d[3] = {pairs.geometry(p, 0), pairs.geometry(p, 1), pairs.geometry(p, 2)};
    double f[3];
    cutoff.gradient(d, pairs.geometry(p, 3), c, f);
    for (int axis = 0; axis < 3; ++axis) force(p, axis) = f[axis];
  }

  KOKKOS_INLINE_FUNCTION void operator()(const Member& team) const {
    const int atom = team.league_rank(), last = pairs.first(atom + 1), n = channel_packs, length = n * lanes<T>;
    auto* const row_gradients = static_cast<double*>(team.team_shmem().get_shmem(batch * 4 * sizeof(double)));
    auto* const d = static_cast<T*>(team.team_shmem().get_shmem(adjoint_bytes()));
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, length * components), [&](const int k) {
      const int lane = k % lanes<T>, row = k / lanes<T>;  // rows of packs: [pack][component][lane]
      d[row % components * length + row / components * lanes<T> + lane] = adjoint(atom, k);
    });
    team.team_barrier();
    for (int first = pairs.first(atom); first < last; first += batch) {
      const int count = last - first < batch ? last - first : batch;
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, count), [&](const int b) {
        const int p = first + b, type = pairs.owner(p, 1);
        ChannelSums<T> sums;
        Kokkos::parallel_reduce(
            Kokkos::ThreadVectorRange(team, n),
            [&](const int pack, ChannelSums<T>& part) { add_channels(p, d + pack * lanes<T>, length, pack, part); },
            sums);
        Kokkos::single(Kokkos::PerThread(team), [&] {
          double* const c = row_gradients + 4 * b;
          for (int k = 0; k < 4; ++k) c[k] = static_cast<double>(sums.row[k]) * inverse(type, k);
          c[0] += static_cast<double>(sums.network * pairs.point(p, 1)) * inverse(type, 0);
        });
      });
      team.team_barrier();
      Kokkos::parallel_for(Kokkos::TeamVectorRange(team, count),
                           [&](const int b) { finish(first + b, row_gradients + 4 * b); });
      team.team_barrier();
    }
  }

  void run(int atoms) const {
    const int bytes = batch * 4 * static_cast<int>(sizeof(double)) + adjoint_bytes();
    Kokkos::parallel_for("deep_potential: pair gradients",
                         Policy(atoms, pairs_at_once, across).set_scratch_size(0, Kokkos::PerTeam(bytes + 64)), *this);
  }
};

}  // namespace cambium::deepmd
