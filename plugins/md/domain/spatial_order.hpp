#pragma once
#include <vector>

#include "core/particles/box.hpp"
#include "core/particles/particles.hpp"

namespace cambium::md {

/// Order of the first `count` rows in which neighbours in space are close in memory: by cells of about four atoms (a
/// fastest) between the fractional bounds `low` and `high`, and by tag within a cell. A pure function of positions,
/// tags and bounds, independent of the current row order. Returns order[new row] = old row; empty when nothing moves.
std::vector<int> spatial_order(const HostView<double* [4]>& x, const HostView<std::int64_t*>& tag, int count,
                               const Box& box, const double low[3], const double high[3]);

}  // namespace cambium::md
