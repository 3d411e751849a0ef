#pragma once
#include <string>
#include <vector>

#include "core/train/kinds/dataset.hpp"

namespace cambium::podlstm {

/// Scaling of coefficients by mode, (a - low) / width, and their unit. No modes: unknown.
struct ModeScaling {
  std::vector<double> low, width;
  std::string unit;  ///< of the coefficients; empty if dimensionless
};

/// Interface of a data set whose fields "window" and "target" are scaled coefficients, in addition to Dataset. Its
/// samples also have "coefficients" (past, modes): the window before scaling, in the unit of the series.
class ScalesModes {
 public:
  virtual ~ScalesModes() = default;
  /// After open().
  virtual ModeScaling mode_scaling() const = 0;
};

/// Scaling of a data set or of the one that it is a subset of; none if it has no such interface.
ModeScaling mode_scaling_of(const train::Dataset& data);

}  // namespace cambium::podlstm
