#pragma once
#include "plugins/deepmd/model/contraction.hpp"
#include "plugins/deepmd/model/environment.hpp"

namespace cambium::deepmd {

/// Sums over channels that give the gradient of a pair's row: along the network's input, along the row.
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

/// pair_gradients() for devices: a team for each atom, four lanes of a warp for each of its pairs. The lanes share the
/// channels, so that adjacent threads read adjacent coefficients (32 lanes, each with one channel at a time, took 2.2
/// times as long on an H100). The atom's adjoint is stored in team scratch memory, component by component, so that
/// adjacent threads read adjacent values.
template <class T, class Rows, class Channels = typename Rows::Channels>
struct TeamGradients {
  using Policy = Kokkos::TeamPolicy<ExecSpace>;
  using Member = typename Policy::member_type;
  static constexpr int across = device_is_host ? 1 : 4, pairs_at_once = device_is_host ? 1 : 32;
  static constexpr int batch = 64;  ///< pairs whose row gradients are in team scratch memory at once

  Pairs<T> pairs;
  Rows rows;
  int channels, components;
  CutOff cutoff;
  View<double**> inverse;
  Matrix<T> adjoint;
  View<double* [3]> force;

  /// Number of packs or groups of channels; length() is the size of a component in team scratch memory.
  KOKKOS_INLINE_FUNCTION int items() const { return (channels + Channels::width - 1) / Channels::width; }
  KOKKOS_INLINE_FUNCTION int length() const { return items() * Channels::width; }

  /// Values of a pair that all channels need.
  struct Place {
    const int* slot;
    T t, row[4];
  };
  KOKKOS_INLINE_FUNCTION Place place_of(int p) const {
    return {&pairs.slot(p, 0), pairs.point(p, 0), {pairs.row(p, 0), pairs.row(p, 1), pairs.row(p, 2), pairs.row(p, 3)}};
  }

  /// `d` is the adjoint in team scratch memory.
  KOKKOS_INLINE_FUNCTION void add_channels(const Place& pair, const T* d, int item, ChannelSums<T>& out) const {
    Channels g, slope, along(T(0));
    d += item * Channels::width;
    rows.both(pair.slot, pair.t, item, g, slope);
    if (components == 1) {
      out.network += sum(slope * Channels::load(d));
      return;
    }
    for (int k = 0; k < 4; ++k) {
      const Channels dk = Channels::load(d + k * length());
      along += dk * Channels(pair.row[k]);
      out.row[k] += sum(g * dk);
    }
    out.network += sum(slope * along);
  }

  KOKKOS_INLINE_FUNCTION int adjoint_bytes() const { return length() * components * static_cast<int>(sizeof(T)); }

  KOKKOS_INLINE_FUNCTION void finish(int p, const double* c) const {
    const double d[3] = {pairs.geometry(p, 0), pairs.geometry(p, 1), pairs.geometry(p, 2)};
    double f[3];
    cutoff.gradient(d, pairs.geometry(p, 3), c, f);
    for (int axis = 0; axis < 3; ++axis) force(p, axis) = f[axis];
  }

  KOKKOS_INLINE_FUNCTION void operator()(const Member& team) const {
    const int atom = team.league_rank(), last = pairs.first(atom + 1), stored = packs<T>(channels) * lanes<T>;
    auto* const row_gradients =
        static_cast<double*>(team.team_shmem().get_shmem_aligned(batch * 4 * sizeof(double), 16));
    auto* const d = static_cast<T*>(team.team_shmem().get_shmem_aligned(adjoint_bytes(), 16));
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, length() * components), [&](const int k) {
      const int c = k % length();
      d[k] = c < stored ? adjoint(atom, place_in_packs<T>(c, k / length(), components)) : T(0);
    });
    team.team_barrier();
    for (int first = pairs.first(atom); first < last; first += batch) {
      const int count = last - first < batch ? last - first : batch;
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, count), [&](const int b) {
        const int p = first + b, type = pairs.owner(p, 1);
        const Place pair = place_of(p);
        ChannelSums<T> sums;
        Kokkos::parallel_reduce(
            Kokkos::ThreadVectorRange(team, items()),
            [&](const int item, ChannelSums<T>& part) { add_channels(pair, d, item, part); }, sums);
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
