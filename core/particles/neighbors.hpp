#pragma once
#include <cstdint>
#include <memory>

#include "core/parallel/kokkos.hpp"
#include "core/particles/particles.hpp"

namespace cambium {

/// Full Verlet list: row i (owned atom) holds every j != i, owned or ghost, with |r_j - r_i| < cutoff + skin when the
/// list was built. Rows start at multiples of `row_padding` entries and are padded with the sentinel particle, which is
/// beyond every cut-off, so a kernel reads full packs and needs no remainder loop.
struct NeighborList {
  static constexpr int row_padding = 16;  ///< entries; a multiple of every pack width in use

  double cutoff = 0.0;         ///< Å, largest interaction range
  double skin = 0.0;           ///< Å
  View<std::int64_t*> offset;  ///< first entry of row i, ascending; nlocal + 1 values; rows may leave gaps
  View<int*> count;            ///< real neighbours of row i, without padding
  View<int*> index;            ///< the entries
  std::int64_t pairs = 0;      ///< sum of count on this rank

  struct Scratch;  ///< bins that one build leaves for the next
  std::shared_ptr<Scratch> scratch;
};

/// Builds the list by cell binning. `particles` has its ghosts (all within cutoff + skin of the brick) and sentinel.
/// Reuses the arrays of `list`. The order within a row is a pure function of the particle order, whatever the number
/// of threads.
void build_neighbors(const Particles& particles, double cutoff, double skin, NeighborList& list);

}  // namespace cambium
