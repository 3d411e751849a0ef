#pragma once
#include <vector>

#include "core/particles/neighbors.hpp"
#include "core/particles/particles.hpp"

namespace cambium {

/// Edges within a cut-off of the owned atoms, from neighbour to atom, in host memory, for networks on the graph of
/// atoms. Å.
struct AtomEdges {
  std::vector<int> first;      ///< of each owned atom; one more than atoms
  std::vector<int> neighbour;  ///< rows, owned or ghosts
  std::vector<double> length;
  std::vector<double> direction;  ///< of three; from the neighbour to the atom, length 1

  /// In the order of the neighbour list.
  void find(const Particles& particles, const NeighborList& list, double cutoff);
  int begin(int i) const { return first[static_cast<std::size_t>(i)]; }
  int end(int i) const { return first[static_cast<std::size_t>(i) + 1]; }
};

}  // namespace cambium
