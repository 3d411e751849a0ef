#pragma once
#include <span>
#include <vector>

#include "core/particles/neighbors.hpp"
#include "plugins/torch_potential/archive/archive.hpp"

namespace cambium::torch_potential {

/// The graph that determines the energies of the owned atoms, and the rows of its nodes.
struct Edges {
  ArchiveGraph graph;    ///< vectors in Å
  std::vector<int> row;  ///< particle row of each node; owned atoms are nodes 0, 1, ... in order of rows
};

/// Finds edges shorter than `cutoff` (Å) from every atom whose features reach an owned one within `layers` steps of
/// message passing: of the owned atoms, and for more than one layer of ghosts. `type` maps a type of the deck to the
/// archive's. Ghosts must surround the owned atoms to a depth of layers times cutoff.
class EdgeFinder {
 public:
  EdgeFinder(double cutoff, int layers) : cutoff_(cutoff), layers_(layers) {}

  Edges find(const Particles& particles, const NeighborList& list, std::span<const int> type);
  /// The same with every ghost replaced by the owned atom that it is an image of: only if all ghosts are images. One
  /// cut-off of ghosts is then enough for any number of layers. InputError if tags do not identify the atom of each
  /// image.
  Edges find_folded(const Particles& particles, const NeighborList& list, std::span<const int> type) const;

 private:
  double cutoff_;
  int layers_;
  NeighborList all_;  ///< including rows of ghosts
};

}  // namespace cambium::torch_potential
