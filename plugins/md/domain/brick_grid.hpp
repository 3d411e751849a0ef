#pragma once
#include <array>

#include "core/particles/box.hpp"

namespace cambium::md {

/// The periodic cell divided into equal bricks in fractional coordinates, one per rank; rank = (k nb + j) na + i for
/// the brick (i, j, k) along (a, b, c). Trivially copyable.
struct BrickGrid {
  int count[3] = {1, 1, 1};  ///< ranks along a, b, c

  /// Chooses the factors of `ranks` with the smallest brick surface (fewest ghosts); directions narrower than 2 `range`
  /// (Å) are not divided if any choice allows it.
  static BrickGrid choose(int ranks, const Box& box, double range);
  /// A grid given by the user. Throws InputError when its product is not `ranks`.
  static BrickGrid given(const std::array<int, 3>& counts, int ranks);
  /// Throws InputError when a divided direction is narrower than 2 `range` (Å): its ranks would be neighbours on both
  /// sides.
  void require_room(const Box& box, double range) const;

  std::array<int, 3> brick_of(int rank) const {
    return {rank % count[0], rank / count[0] % count[1], rank / (count[0] * count[1])};
  }
  int rank_of(int i, int j, int k) const { return (k * count[1] + j) * count[0] + i; }

  /// Index of the brick that holds fractional coordinate s, normally in [0, 1), in direction d.
  KOKKOS_INLINE_FUNCTION int brick_index(double s, int d) const {
    const int k = static_cast<int>(s * count[d]);
    return k < 0 ? 0 : k >= count[d] ? count[d] - 1 : k;
  }
};

/// The same for one direction d of this height (Å), divided among `ranks` ranks.
void require_width(double height, int d, int ranks, double range);

}  // namespace cambium::md
