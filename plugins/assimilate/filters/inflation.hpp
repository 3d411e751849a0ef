#pragma once
#include "plugins/assimilate/filters/letkf.hpp"

namespace cambium::assimilate {

/// Inflation factor of the background covariance, estimated from innovations: their mean square should equal the sum of
/// the observation error variance and the observed ensemble variance. A scalar Kalman filter weights the estimate of
/// each analysis by its sampling error (T. Miyoshi, Mon. Weather Rev. 139, 1519 (2011), eqs. 6 to 11, one factor for
/// all grid points).
class AdaptiveInflation {
 public:
  explicit AdaptiveInflation(double first) : value_(first) {}
  /// `prior_deviation` is that of the factor before each estimate; 0.04 as published.
  void update(const ObservedEnsemble& seen, const Network& network, double prior_deviation = 0.04);
  double value() const { return value_; }

 private:
  double value_;
};

}  // namespace cambium::assimilate
