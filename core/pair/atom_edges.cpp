#include "core/pair/atom_edges.hpp"

#include <cmath>

namespace cambium {

void AtomEdges::find(const Particles& particles, const NeighborList& list, double cutoff) {
  const auto x = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), particles.x);
  const auto offset = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), list.offset);
  const auto count = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), list.count);
  const auto index = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), list.index);
  first.assign(1, 0);
  neighbour.clear();
  length.clear();
  direction.clear();
  for (int i = 0; i < particles.nlocal; ++i) {
    for (int k = 0; k < count(i); ++k) {
      const int j = index(offset(i) + k);
      const double d[3] = {x(i, 0) - x(j, 0), x(i, 1) - x(j, 1), x(i, 2) - x(j, 2)};
      const double r = std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
      if (!(r < cutoff)) continue;
      neighbour.push_back(j);
      length.push_back(r);
      for (const double component : d) direction.push_back(component / r);
    }
    first.push_back(static_cast<int>(neighbour.size()));
  }
}

}  // namespace cambium
