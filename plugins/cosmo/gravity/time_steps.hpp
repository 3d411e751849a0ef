#pragma once
#include <cmath>
#include <cstdint>

namespace cambium::cosmo {

enum class Spacing { logarithmic, linear };

/// Scale factors from `start` to `end` in `steps` steps.
struct TimeSteps {
  double start, end;
  std::int64_t steps;
  Spacing spacing = Spacing::logarithmic;

  double after(std::int64_t step) const {
    if (step >= steps) return end;
    const double part = static_cast<double>(step) / static_cast<double>(steps);
    return spacing == Spacing::linear ? start + part * (end - start) : start * std::pow(end / start, part);
  }
  /// Between steps `step` and `step` + 1: where one half of the kick ends.
  double within(std::int64_t step) const {
    const double from = after(step), to = after(step + 1);
    return spacing == Spacing::linear ? 0.5 * (from + to) : std::sqrt(from * to);
  }
};

}  // namespace cambium::cosmo
