#pragma once
#include <cstdint>
#include <string>

#include "core/numerics/width.hpp"
#include "core/parallel/host_threads.hpp"

namespace cambium::superres {

/// Contiguous columns of a row that one kernel call processes.
constexpr int lanes = width_of<ExecSpace, double>;
using Lanes = Pack<double, lanes>;

/// Columns before column 0 of the interior: room for the ghost column, and an aligned interior.
constexpr int margin = 8;
/// Columns of the interior rounded up to full packs of any width, so that kernels need no remainder loop.
constexpr int padded(int nx) { return (nx + 7) / 8 * 8; }
/// Columns of a stored row.
constexpr int pitch_of(int nx) { return margin + padded(nx) + 8; }

/// Calls body(row, column) for rows first..last-1 and for every pack of columns, column = 0, lanes, 2 lanes, ... < nx.
template <class Body>
void for_rows(const std::string& name, int first, int last, int nx, const Body& body) {
  using Policy = Kokkos::TeamPolicy<ExecSpace>;
  const int packs = (nx + lanes - 1) / lanes;
  auto kernel = KOKKOS_LAMBDA(const typename Policy::member_type& team) {
    const int row = first + team.league_rank();
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, packs), [&](int k) { body(row, k * lanes); });
  };
  if (last <= first) return;
  if constexpr (device_is_host)
    Kokkos::parallel_for(name, Policy(last - first, 1), kernel);
  else
    Kokkos::parallel_for(name, Policy(last - first, Kokkos::AUTO), kernel);
}

/// Columns that one thread sweeps together along z: a few cache lines on CPUs, one column on devices.
constexpr int strip = device_is_host ? 8 : 1;

/// Rows that a sweep along the height prefetches before it processes the first of them. A device has one column per
/// thread and too few columns to hide memory latency: without this each thread would wait once per row.
constexpr int fetched = device_is_host ? 1 : 8;
/// Loads values of a row on a device; hosts load them at their use, by fetched_or().
KOKKOS_INLINE_FUNCTION Lanes fetch([[maybe_unused]] const double* here) {
  if constexpr (fetched > 1)
    return Lanes::load(here);
  else
    return Lanes(0.0);
}
KOKKOS_INLINE_FUNCTION Lanes fetched_or([[maybe_unused]] Lanes row, [[maybe_unused]] const double* here) {
  if constexpr (fetched > 1)
    return row;
  else
    return Lanes::load(here);
}

/// Strips of packs, each swept by one thread. A single thread takes full strips, the last of which may be narrow;
/// several threads take strips of equal number whose sizes differ by at most a pack, for load balance.
struct Strips {
  int packs, count;
  bool even;

  static Strips of(int packs, int threads) {
    const int whole = (packs + strip - 1) / strip, count = (whole + threads - 1) / threads * threads;
    return threads == 1 ? Strips{packs, whole, false} : Strips{packs, count < packs ? count : packs, true};
  }
  /// Strips of columns first..last-1, for the available host threads; a device has one thread for each strip.
  static Strips of_columns(int first, int last) {
    return of((last - first + lanes - 1) / lanes, device_is_host ? host_threads() : 1);
  }
  /// First pack of strip s; that of strip `count` is one past the last.
  KOKKOS_INLINE_FUNCTION int begin(int s) const {
    if (even) return static_cast<int>(static_cast<std::int64_t>(packs) * s / count);
    return s < count ? s * strip : packs;
  }
};

/// Threads with full columns: few, so on a device small groups are spread over all multiprocessors.
using Columns = Kokkos::RangePolicy<ExecSpace, Kokkos::IndexType<int>, Kokkos::LaunchBounds<64>>;

/// The same for layers 0..layers-1, body(layer, first column, end): sequentially on CPUs, so that a strip stays in
/// cache, and by separate threads on devices.
template <class Body>
void for_layers(const std::string& name, int layers, int first, int last, const Body& body) {
  const Strips strips = Strips::of_columns(first, last);
  const int apart = device_is_host ? 1 : layers, together = device_is_host ? layers : 1;
  Kokkos::parallel_for(
      name, Columns(0, strips.count * apart), KOKKOS_LAMBDA(int item) {
        const int s = item % strips.count, layer = item / strips.count;
        const int from = first + strips.begin(s) * lanes, to = first + strips.begin(s + 1) * lanes;
        for (int k = 0; k < together; ++k) body(layer + k, from, to);
      });
}

/// Calls body(first column, end) for strips of packs that cover columns first..last-1; `first` begins a pack.
template <class Body>
void for_strips(const std::string& name, int first, int last, const Body& body) {
  const Strips strips = Strips::of_columns(first, last);
  Kokkos::parallel_for(
      name, Columns(0, strips.count),
      KOKKOS_LAMBDA(int s) { body(first + strips.begin(s) * lanes, first + strips.begin(s + 1) * lanes); });
}

}  // namespace cambium::superres
