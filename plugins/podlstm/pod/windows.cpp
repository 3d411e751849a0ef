#include "plugins/podlstm/pod/windows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/key_error.hpp"
#include "core/train/kinds/batch_plan.hpp"

namespace cambium::podlstm {

std::int64_t window_count(const Stretch& s, const WindowShape& shape, const char* name) {
  const std::int64_t n = s.times() - shape.length() + 1;
  if (n < 1)
    throw KeyError(
        "forecast.window.range", "window",
        fmt::format("window: {} + {} times do not fit the {} series of {} times; shorten window or horizon, or give a "
                    "longer series",
                    shape.past, shape.future, name, s.times()));
  return n;
}

namespace {

Matrix rows_of(const Matrix& a, const std::vector<std::int64_t>& starts, std::int64_t offset, std::int64_t length) {
  Matrix out(std::ssize(starts), length * a.cols);
  for (std::int64_t i = 0; i < out.rows; ++i) std::copy_n(a.row(starts[i] + offset), out.cols, out.row(i));
  return out;
}

}  // namespace

Matrix targets(const Matrix& a, const std::vector<std::int64_t>& starts, const WindowShape& shape) {
  return rows_of(a, starts, shape.past, shape.future);
}
Matrix inputs(const Matrix& a, const std::vector<std::int64_t>& starts, const WindowShape& shape) {
  return rows_of(a, starts, 0, shape.past);
}

std::vector<std::int64_t> all_starts(std::int64_t n) {
  std::vector<std::int64_t> out(n);
  std::iota(out.begin(), out.end(), 0);
  return out;
}

Split blocked_split(std::int64_t windows, double share, std::int64_t gap, const WindowShape& shape) {
  const auto held = static_cast<std::int64_t>(std::ceil(share * static_cast<double>(windows) - 1e-9));
  const std::int64_t fit = windows - held - gap;
  if (held < 1)
    throw KeyError(
        "forecast.validation.empty", "validation",
        fmt::format("validation: a fraction of {:g} of {} windows leaves the validation block empty; raise it", share,
                    windows));
  if (fit < 1)
    throw KeyError(
        "forecast.validation.all", "validation",
        fmt::format("validation: {} windows less {} for validation and a gap of {} leave none to fit; lower validation "
                    "or gap, or give a longer series",
                    windows, held, gap));
  Split out;
  out.fit = all_starts(fit);
  for (std::int64_t i = windows - held; i < windows; ++i) out.validation.push_back(i);
  out.rows = fit + shape.length() - 1;
  return out;
}

std::vector<Split> fold_splits(std::int64_t windows, int folds, std::int64_t gap, const WindowShape& shape) {
  std::vector<Split> out;
  for (int k = 0; k < folds; ++k) {
    const std::int64_t first = windows * k / folds, last = windows * (k + 1) / folds;
    Split s;
    for (std::int64_t i = 0; i < windows; ++i) {
      if (i < first - gap || i >= last + gap) s.fit.push_back(i);
      if (i >= first && i < last) s.validation.push_back(i);
    }
    if (s.fit.empty() || s.validation.empty())
      throw KeyError(
          "forecast.folds", "folds",
          fmt::format("folds: {} blocks of {} windows with gaps of {} leave none to fit or none to validate; lower "
                      "folds or gap, or give a longer series",
                      folds, windows, gap));
    s.rows = windows + shape.length() - 1;
    s.hole_first = first > gap ? first - gap - 1 + shape.length() : 0;
    s.hole_last = last + gap < windows ? last + gap : s.rows;
    out.push_back(std::move(s));
  }
  return out;
}

Split random_split(std::int64_t windows, double share, std::uint64_t seed, const WindowShape& shape) {
  const auto held = static_cast<std::int64_t>(std::ceil(share * static_cast<double>(windows) - 1e-9));
  if (held < 1 || held >= windows)
    throw KeyError("forecast.validation.side", "validation",
                   fmt::format("validation: a fraction of {:g} of {} windows leaves one side empty", share, windows));
  const auto order = train::epoch_order(seed, 0, windows);
  Split out;
  out.validation.assign(order.begin(), order.begin() + held);
  out.fit.assign(order.begin() + held, order.end());
  std::sort(out.fit.begin(), out.fit.end()), std::sort(out.validation.begin(), out.validation.end());
  out.rows = windows + shape.length() - 1;
  return out;
}

Score score(const Matrix& truth, const Matrix& forecast, std::int64_t modes) {
  const std::int64_t leads = truth.cols / modes;
  Score out{0.0, 0.0, std::vector<double>(modes), std::vector<double>(leads)};
  double all_rest = 0.0, all_total = 0.0;
  for (std::int64_t j = 0; j < truth.cols; ++j) {
    double mean = 0.0, square = 0.0, rest = 0.0, total = 0.0;
    for (std::int64_t i = 0; i < truth.rows; ++i) {
      mean += truth(i, j);
      square += truth(i, j) * truth(i, j);
    }
    mean /= static_cast<double>(truth.rows);
    for (std::int64_t i = 0; i < truth.rows; ++i) {
      rest += std::pow(truth(i, j) - forecast(i, j), 2);
      total += std::pow(truth(i, j) - mean, 2);
    }
    const double least = std::max(1e-12 * square, std::numeric_limits<double>::min());
    const double r2 = 1.0 - rest / std::max(total, least);
    out.r2 += r2 / static_cast<double>(truth.cols);
    out.by_lead[j / modes] += r2 / static_cast<double>(modes);
    out.by_mode[j % modes] += r2 / static_cast<double>(leads);
    all_rest += rest;
    all_total += total;
  }
  out.variance_weighted = 1.0 - all_rest / all_total;
  return out;
}

}  // namespace cambium::podlstm
