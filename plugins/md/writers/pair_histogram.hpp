#pragma once
#include <cstdint>
#include <vector>

#include "core/parallel/comm.hpp"
#include "core/particles/neighbors.hpp"
#include "core/particles/particles.hpp"

namespace cambium::md {

/// Unordered pairs of species, (0,0), (0,1), .. (0,n-1), (1,1), ..: n (n + 1) / 2 of them.
KOKKOS_INLINE_FUNCTION int species_pair(int a, int b, int n) {
  const int low = a < b ? a : b, high = a < b ? b : a;
  return low * n - low * (low - 1) / 2 + (high - low);
}
inline int species_pairs(int n) { return n * (n + 1) / 2; }

/// Collective: ordered pairs (i, j) of all ranks by distance; entry [pair][bin] counts r in [bin, bin + 1) r_max /
/// bins, row-major. The list must reach r_max.
std::vector<std::int64_t> count_pairs(const Particles& particles, const NeighborList& list, double r_max, int bins,
                                      const Comm& comm);

}  // namespace cambium::md
