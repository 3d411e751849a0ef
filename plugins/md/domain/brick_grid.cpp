#include "plugins/md/domain/brick_grid.hpp"

#include <fmt/format.h>

#include <limits>

#include "core/base/key_error.hpp"

namespace cambium::md {

BrickGrid BrickGrid::choose(int ranks, const Box& box, double range) {
  const auto height = box.heights();
  BrickGrid best;
  double least = std::numeric_limits<double>::infinity();
  for (int i = 1; i <= ranks; ++i) {
    if (ranks % i) continue;
    for (int j = 1; j <= ranks / i; ++j) {
      if (ranks / i % j) continue;
      const int n[3] = {i, j, ranks / i / j};
      double surface = 0.0;
      for (int d = 0; d < 3; ++d) {
        surface += n[d] / height[d];
        if (n[d] > 1 && height[d] < 2.0 * range) surface += 1e10;  // only if no other choice remains
      }
      // For ties (cubic cells) the first choice wins; the margin keeps rounding from deciding.
      if (surface < least * (1.0 - 1e-12)) {
        least = surface;
        for (int d = 0; d < 3; ++d) best.count[d] = n[d];
      }
    }
  }
  return best;
}

BrickGrid BrickGrid::given(const std::array<int, 3>& n, int ranks) {
  if (n[0] < 1 || n[1] < 1 || n[2] < 1 || static_cast<long>(n[0]) * n[1] * n[2] != ranks)
    throw KeyError(
        "md.ranks.product", "ranks",
        fmt::format(
            "the grid of ranks {} x {} x {} does not fit {} rank{}: give three positive counts whose product is {}",
            n[0], n[1], n[2], ranks, ranks == 1 ? "" : "s", ranks));
  BrickGrid grid;
  for (int d = 0; d < 3; ++d) grid.count[d] = n[d];
  return grid;
}

void require_width(double height, int d, int ranks, double range) {
  if (height >= 2.0 * range) return;
  throw KeyError(
      "md.ranks.width", "ranks",
      fmt::format("the cell is {:.1f} Å wide along {} for {} ranks: a partitioned direction must be at least {:.1f} Å "
                  "wide (twice the cut-off plus skin of {:.1f} Å); use 1 rank along {} or a larger cell",
                  height, "abc"[d], ranks, 2.0 * range, range, "abc"[d]));
}

void BrickGrid::require_room(const Box& box, double range) const {
  const auto height = box.heights();
  for (int d = 0; d < 3; ++d)
    if (count[d] > 1) require_width(height[d], d, count[d], range);
}

}  // namespace cambium::md
