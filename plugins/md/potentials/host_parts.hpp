#pragma once
#include <cstdint>
#include <vector>

#include "core/pair/lanes.hpp"
#include "core/pair/outside_forces.hpp"
#include "core/particles/neighbors.hpp"
#include "core/particles/particles.hpp"

namespace cambium::md {

using HostPack = Pack<double, width_of<HostExec, double>>;

/// Arrays of a step in host memory: the same memory if there is no device.
struct HostArrays {
  decltype(Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), Particles().x)) x;
  decltype(Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), NeighborList().offset)) offset;
  decltype(Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), NeighborList().count)) count;
  decltype(Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), NeighborList().index)) index;

  HostArrays(const Particles& particles, const NeighborList& list)
      : x(Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), particles.x)),
        offset(Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), list.offset)),
        count(Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), list.count)),
        index(Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), list.index)) {}
  const int* row(int i) const { return index.data() + offset(i); }
};

/// Target of the forces and virials of one part of the atoms.
struct HostPart {
  int first, last;  ///< atoms
  int end;          ///< end of the rows only this part adds to: its atoms, in the last part also ghosts
  std::vector<OutsideForces::Given>& outside;
  double *f, *atom_energy, *atom_virial;  ///< the last two are null if not requested
  PairSums sums = {};

  void force(int row, const double* g, double sign) {
    if (row < first || row >= end) {
      outside.push_back({row, {sign * g[0], sign * g[1], sign * g[2]}});
      return;
    }
    for (int k = 0; k < 3; ++k) f[3 * static_cast<std::int64_t>(row) + k] += sign * g[k];
  }

  void energy(int i, double value) {
    sums.v[0] += value;
    if (atom_energy) atom_energy[i] += value;
  }

  /// Adds the virial of an atom's energy with gradient g from a neighbour at distance d, assigned to atom `row`.
  void virial(int row, const double* g, const double* d) {
    constexpr int a[6] = {0, 1, 2, 0, 0, 1}, b[6] = {0, 1, 2, 1, 2, 2};
    for (int k = 0; k < 6; ++k) sums.v[1 + k] -= g[a[k]] * d[b[k]];
    if (!atom_virial) return;
    for (int k = 0; k < 9; ++k) add_to(atom_virial + 9 * static_cast<std::int64_t>(row) + k, -g[k / 3] * d[k % 3]);
  }
};

/// Calls run(part, arrays) for every part of the atoms, each on its own thread, and adds the parts' results to `out`.
template <class Run>
void on_host_parts(OutsideForces& outside, const Particles& particles, const NeighborList& list,
                   const ForceRequest& request, ForceOutput& out, Run run) {
  const HostArrays in(particles, list);
  const auto f = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), out.f);
  const auto energies = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), out.atom_energy);
  const auto virials = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), out.atom_virial);
  constexpr int block = 16;  // atoms
  outside.begin(particles.nlocal, block);
  std::vector<PairSums> sums(outside.parts());
  on_threads(outside.parts(), [&](int k) {
    HostPart part{outside.first(k),
                  outside.first(k + 1),
                  k == outside.parts() - 1 ? particles.total() : outside.first(k + 1),
                  outside.of(k),
                  f.data(),
                  request.per_atom ? energies.data() : nullptr,
                  request.per_atom ? virials.data() : nullptr};
    run(part, in);
    sums[k] = part.sums;
  });
  outside.add_to(f.data());
  for (const auto& s : sums) {
    out.energy += s.v[0];
    add_symmetric(out.virial, s.v + 1);
  }
  Kokkos::deep_copy(out.f, f);
  if (!request.per_atom) return;
  Kokkos::deep_copy(out.atom_energy, energies);
  Kokkos::deep_copy(out.atom_virial, virials);
}

}  // namespace cambium::md
