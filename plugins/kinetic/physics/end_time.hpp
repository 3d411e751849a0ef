#pragma once
#include <optional>

namespace cambium::kinetic {

/// The deck's `end_time`: where it is given the last step is shortened to meet it.
struct EndTime {
  std::optional<double> at;

  bool given() const { return at.has_value(); }
  bool reached(double time) const { return at && time >= *at * (1.0 - 1e-12); }
  double progress(double time) const { return at ? time / *at : 0.0; }
  /// Remaining time, where it is less than a step of dt or as good as one.
  double step(double time, double dt) const { return at && time + dt * (1.0 + 1e-9) > *at ? *at - time : dt; }
};

}  // namespace cambium::kinetic
