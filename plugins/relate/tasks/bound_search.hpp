#pragma once
#include <functional>
#include <span>
#include <vector>

namespace cambium::relate {

/// Error bounds that are tried for each table: `least` and its doubles up to `most`.
struct BoundRange {
  double least = 1e-3, most = 1.0;
};

/// Bounds by table, 0 where even the least one costs too much, and the fall of the score with each alone and with all.
struct FoundBounds {
  std::vector<double> bound, fall;
  double exact = 0.0, together = 0.0;  ///< score without bounds, and with all of them
};

/// The largest bound of each table with which `score` falls by less than `tolerance` below that without bounds, first
/// alone; then the table whose bound costs most is halved until this holds with all bounds together. `score`: of bounds
/// by table, 0 for exact rows; the larger the better.
FoundBounds search_bounds(std::size_t tables, const BoundRange& range, double tolerance,
                          const std::function<double(std::span<const double> bounds)>& score);

}  // namespace cambium::relate
