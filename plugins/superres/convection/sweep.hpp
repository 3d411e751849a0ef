#pragma once
#include "plugins/superres/convection/grid.hpp"

namespace cambium::superres {

/// Order in which a rank eliminates its rows of a tridiagonal system along z: away from the plate if it has one, so
/// that its rows depend on one neighbour only and two ranks do no more work than one ("burn at both ends"). A rank
/// between two others sweeps upwards and keeps the response of its rows to the rank behind.
struct Sweep {
  int rows = 0;
  bool down = false;    ///< from the upper plate
  bool behind = false;  ///< another rank precedes the first step
  bool ahead = false;   ///< another rank follows the last step

  static Sweep of(const Slab& slab) {
    const bool divided = slab.ranks > 1, down = divided && slab.top();
    return {slab.rows, down, divided && !slab.bottom() && !down, divided};
  }
  /// Row of step k = 1..m; k = 0 and m + 1 are the rows of the ranks behind and ahead.
  KOKKOS_INLINE_FUNCTION int row(int k) const { return down ? rows + 1 - k : k; }
};

}  // namespace cambium::superres
