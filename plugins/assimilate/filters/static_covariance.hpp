#pragma once
#include <span>
#include <vector>

#include "plugins/assimilate/filters/climatology.hpp"
#include "plugins/assimilate/observations/network.hpp"

namespace cambium::assimilate {

/// Analysis with a static covariance B: `scale` times that of a climatology, localised by gaspari_cohn():
///   x_a = x_b + B H^T (H B H^T + R)^-1 (y - H x_b).
/// With x_b the climatological mean this is optimal interpolation, with x_b a forecast the minimum of the cost function
/// of 3D-Var in its dual form (P. Courtier, Q. J. R. Meteorol. Soc. 123, 2449 (1997)), exact because H is linear.
/// The Cholesky factor of the bracket is computed once. The referenced objects must outlive this one.
class StaticCovariance {
 public:
  StaticCovariance(const Climatology& climatology, const Network& network, const StateSpace& space, double scale,
                   double half_width);
  /// Replaces the background by the analysis: n values. `observed`: p.
  void analyse(std::span<double> state, std::span<const double> observed);

 private:
  void factor();

  const Climatology& climatology_;
  const Network& network_;
  const StateSpace& space_;
  double scale_, half_width_;
  std::vector<double> seen_;    ///< K x p: H of the anomalies
  std::vector<double> factor_;  ///< p x p
};

}  // namespace cambium::assimilate
