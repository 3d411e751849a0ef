#include "plugins/md/domain/division.hpp"

namespace cambium::md {

int Division::owner_of(const double s[3]) const {
  if (cuts) return cuts->rank_of(s);
  return grid.rank_of(grid.brick_index(s[0], 0), grid.brick_index(s[1], 1), grid.brick_index(s[2], 2));
}

FractionalBox Division::part_of(int rank) const {
  if (cuts) return cuts->box_of(rank);
  const auto brick = grid.brick_of(rank);
  FractionalBox box;
  for (int d = 0; d < 3; ++d) {
    box.low[d] = brick[d] / static_cast<double>(grid.count[d]);
    box.high[d] = (brick[d] + 1) / static_cast<double>(grid.count[d]);
  }
  return box;
}

void Division::require_room(const Box& box, double range) const {
  if (!cuts) return grid.require_room(box, range);
  const auto height = box.heights();
  for (int d = 0; d < 3; ++d)
    if (cuts->cuts(d)) require_width(height[d], d, cuts->ranks(), range);
}

}  // namespace cambium::md
