#pragma once
#include <optional>

#include "plugins/md/domain/brick_grid.hpp"
#include "plugins/md/domain/cut_tree.hpp"

namespace cambium::md {

/// Division of the cell among the ranks: into equal bricks or, if there are planes, into their boxes.
struct Division {
  BrickGrid grid;
  std::optional<CutTree> cuts;

  /// Rank whose part contains the fractional coordinates s, normally in [0, 1).
  int owner_of(const double s[3]) const;
  FractionalBox part_of(int rank) const;
  /// Throws InputError, as BrickGrid does, when a divided direction is narrower than 2 `range` (Å).
  void require_room(const Box& box, double range) const;
};

}  // namespace cambium::md
