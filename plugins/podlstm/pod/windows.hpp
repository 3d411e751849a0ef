#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "plugins/podlstm/pod/series.hpp"

namespace cambium::podlstm {

/// `past` input times, followed by `future` output times.
struct WindowShape {
  std::int64_t past = 8, future = 8;
  std::int64_t length() const { return past + future; }
};

/// Number of windows in a stretch. InputError if none fits.
std::int64_t window_count(const Stretch& s, const WindowShape& shape, const char* name);

/// The `future` rows of windows that start at `starts`, one window per row: (windows, future * modes).
Matrix targets(const Matrix& a, const std::vector<std::int64_t>& starts, const WindowShape& shape);
/// The `past` rows, likewise.
Matrix inputs(const Matrix& a, const std::vector<std::int64_t>& starts, const WindowShape& shape);

/// 0, 1, ..., n - 1.
std::vector<std::int64_t> all_starts(std::int64_t n);

/// A split of the training windows for validation. Fits may use the first `rows` times, except those from hole_first to
/// before hole_last.
struct Split {
  std::vector<std::int64_t> fit, validation;
  std::int64_t rows = 0, hole_first = 0, hole_last = 0;
};

/// Validates on the last fraction `share` of the windows; excludes `gap` windows before it, so that with gap >= past +
/// future - 1 no time is in both. InputError if either side is empty.
Split blocked_split(std::int64_t windows, double share, std::int64_t gap, const WindowShape& shape);

/// Cross-validation with `folds` contiguous blocks: every window validates once; excludes `gap` windows on either side
/// of the block. InputError if a block or the rest is empty.
std::vector<Split> fold_splits(std::int64_t windows, int folds, std::int64_t gap, const WindowShape& shape);

/// Validates on a random fraction `share` of the overlapping windows, as in the SC20 work: neighbours share times, so
/// validation data leak into the fit.
Split random_split(std::int64_t windows, double share, std::uint64_t seed, const WindowShape& shape);

/// R2 = 1 - SSres / SStot of every output (lead, mode) over windows, and means of it, independent of the unit: SStot is
/// at least 1e-12 of the output's sum of squares, its rounding error. `variance_weighted` weighs outputs by SStot.
struct Score {
  double r2 = 0.0, variance_weighted = 0.0;
  std::vector<double> by_mode, by_lead;
};
Score score(const Matrix& truth, const Matrix& forecast, std::int64_t modes);

}  // namespace cambium::podlstm
