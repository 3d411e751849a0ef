#pragma once
#include "plugins/deepmd/model/contraction.hpp"

namespace cambium::deepmd {

/// contract_pairs() of four components from tables, for devices: a thread for each atom and group of channels.
template <class T>
struct GroupContraction {
  using Channels = ChannelGroup<T>;

  Pairs<T> pairs;
  TableRows<T> rows;
  int channels;
  T scale;
  View<T**> padding;
  View<int*> slots;
  Matrix<T> a;

  KOKKOS_INLINE_FUNCTION int groups() const { return (channels + Channels::width - 1) / Channels::width; }

  /// Contribution of the empty slots to channel c and component k of an atom.
  KOKKOS_INLINE_FUNCTION T empty_part(int atom, int place) const {
    T out = T(0);
    for (int t = 0; t < static_cast<int>(slots.extent(0)); ++t)
      out += static_cast<T>(slots(t) - pairs.count(atom, t)) * padding(t, place);
    return out;
  }

  KOKKOS_INLINE_FUNCTION void operator()(const int item) const {
    const int n = groups(), atom = item / n, group = item % n, end = pairs.first(atom + 1);
    Channels sums[4];
    for (auto& sum : sums) sum = Channels(T(0));
    for (int p = pairs.first(atom); p < end; ++p) {
      const Channels g = rows.template value<Channels>(&pairs.slot(p, 0), pairs.point(p, 0), group);
      for (int k = 0; k < 4; ++k) sums[k] += g * Channels(pairs.row(p, k));
    }
#if defined(CAMBIUM_DEVICE_COMPILER)
#pragma unroll  // so that the sums stay in registers
#endif
    for (int j = 0; j < Channels::width; ++j) {
      const int c = group * Channels::width + j;
      if (c >= channels) continue;
      for (int k = 0; k < 4; ++k) {
        const int place = place_in_packs<T>(c, k, 4);
        a(atom, place) = scale * (sums[k].v[j] + empty_part(atom, place));
      }
    }
  }

  void run(int atoms) const { Kokkos::parallel_for("deep_potential: contract", Range(0, atoms * groups()), *this); }
};

}  // namespace cambium::deepmd
