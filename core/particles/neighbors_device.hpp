#pragma once
#include "core/particles/neighbors.hpp"

namespace cambium {

/// Bins of the search on a device, kept for the next build.
struct DeviceCells {
  View<int*> cell;   ///< of each particle
  View<int*> start;  ///< first particle of each cell in `member`, one more at the end
  View<int*> filled;
  View<int*> member;  ///< particles, cell after cell, ascending within a cell
  int longest = 0;    ///< row of the list before
};

/// build_neighbors for back ends whose memory the host cannot read: one thread per particle. One pass if all rows get
/// the length of the longest of the previous list, else one that counts and one that fills. Runs on every back end.
void build_neighbors_on_device(const Particles& particles, NeighborList& list, DeviceCells& cells);

}  // namespace cambium
