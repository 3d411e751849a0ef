#include "plugins/submatrix/density/purification_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/key_error.hpp"

namespace cambium::submatrix {

PurificationSteps::PurificationSteps(Polynomial polynomial, const Levels& levels, double occupied, double functions)
    : polynomial_(polynomial), occupied_(occupied) {
  const double width = std::max(levels.high - levels.low, 1e-12);
  if (polynomial == Polynomial::trs4) {
    slope_ = 1.0 / width;
    shift_ = levels.high / width;
    return;
  }
  // The trace of X0 is the number of occupied states, and it stays so.
  const double above = std::max(levels.high - levels.mean, 1e-12), below = std::max(levels.mean - levels.low, 1e-12),
               share = occupied / functions;
  slope_ = std::min(share / above, (1.0 - share) / below);
  shift_ = slope_ * levels.mean + share;
}

bool PurificationSteps::ended(double error, double threshold) {
  constexpr double curvature = 6.0, stalled = 0.95, exact = 1e-12;
  // No level x has x (1 - x) > error; those of the iterate are off by some thresholds.
  constexpr double thresholds = 10.0;
  if (const double bound = error + thresholds * threshold; bound < 0.25) {
    const double edge = 0.5 * (1.0 + std::sqrt(1.0 - 4.0 * bound)), low = level(edge), high = level(1.0 - edge);
    if (!gap_known_ || high - low > gap_high_ - gap_low_) gap_low_ = low, gap_high_ = high, gap_known_ = true;
  }
  errors_.push_back(error);
  if (error < exact * std::max(1.0, occupied_)) return true;
  const std::size_t n = errors_.size();
  if (n < 2) return false;
  const double before = errors_[n - 2];
  if (error > linear_.back() * before + curvature * before * before) return true;
  // With many levels the error of truncation may be larger than 1/6.
  return n >= 4 && linear_[n - 2] < 1.0 && linear_[n - 3] < 1.0 && error > stalled * before &&
         before > stalled * errors_[n - 3];
}

PurificationSteps::Next PurificationSteps::next(const Traces& t) {
  Next out;
  double linear = 0.0;
  const double defect = t.x - t.square;
  if (polynomial_ == Polynomial::trs4) {
    const double even = 4.0 * t.cube - 3.0 * t.fourth, odd = t.square - 2.0 * t.cube + t.fourth,
                 gamma = std::abs(odd) > 1e-14 * std::max(1.0, occupied_) ? (occupied_ - even) / odd : 3.0;
    if (gamma < 0.0 || gamma > 6.0) linear = 2.0;
    if (gamma > 6.0)
      out = {Left::none, 0.0, 2.0, -1.0};
    else if (gamma < 0.0)
      out = {Left::none, 0.0, 0.0, 1.0};
    else
      out = {Left::square, gamma, 4.0 - 2.0 * gamma, gamma - 3.0};
  } else {
    const double c =
        std::abs(defect) > 1e-14 * std::max(1.0, occupied_) ? std::clamp((t.square - t.cube) / defect, 0.0, 1.0) : 0.5;
    if (c >= 0.5)
      out = {Left::square, (1.0 + c) / c, -1.0 / c, 0.0};
    else
      out = {Left::x, (1.0 - 2.0 * c) / (1.0 - c), (1.0 + c) / (1.0 - c), -1.0 / (1.0 - c)};
    linear = std::abs(2.0 * c - 1.0) / std::max(c, 1.0 - c);
  }
  steps_.push_back(out);
  linear_.push_back(linear);
  return out;
}

double PurificationSteps::map(double x) const {
  for (const Next& step : steps_) {
    const double factor = step.one + step.x * x + step.square * x * x;
    x = std::clamp(factor * (step.left == Left::none ? 1.0 : step.left == Left::x ? x : x * x), 0.0, 1.0);
  }
  return x;
}

double PurificationSteps::level(double x) const {
  double low = 0.0, high = 1.0;
  for (int k = 0; k < 60; ++k) {
    const double middle = 0.5 * (low + high);
    (map(middle) < x ? low : high) = middle;
  }
  return (shift_ - 0.5 * (low + high)) / slope_;
}

std::pair<double, double> PurificationSteps::gap() const {
  if (gap_known_) return {gap_low_, gap_high_};
  return {level(0.5), level(0.5)};
}

void check_purification(const DensityOptions& options) {
  if (options.kt > 0.0 || options.mu || options.form == Form::local)
    throw InternalError("purification: at zero temperature, for a number of electrons, in the orthogonal form");
  const double pairs = 0.5 * options.electrons;
  if (std::abs(pairs - std::round(pairs)) > 1e-6)
    throw KeyError("density_matrix.purification.electrons", "electrons",
                   fmt::format("electrons is {:.10g}: purification fills states with two electrons each; give an even "
                               "number, or write method: submatrix with a temperature",
                               options.electrons));
}

}  // namespace cambium::submatrix
