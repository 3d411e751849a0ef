#pragma once
#include <functional>
#include <span>
#include <vector>

namespace cambium::relate {

/// Error bounds to try for each table: `least` and its doublings up to `most`.
struct BoundRange {
  double least = 1e-3, most = 1.0;
};

/// Bounds by table, 0 if even `least` costs too much, and the loss of score with each bound separately and with all.
struct FoundBounds {
  std::vector<double> bound, fall;
  double exact = 0.0, together = 0.0;  ///< score without bounds, and with all of them
};

/// The largest bound of each table that lowers `score` by less than `tolerance`, first separately; then the bound of
/// the table with the largest loss is halved until this holds for all bounds together. `score`: of bounds by table, 0
/// for exact rows; higher is better.
FoundBounds search_bounds(std::size_t tables, const BoundRange& range, double tolerance,
                          const std::function<double(std::span<const double> bounds)>& score);

}  // namespace cambium::relate
