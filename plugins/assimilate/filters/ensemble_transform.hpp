#pragma once
#include <span>
#include <vector>

namespace cambium::assimilate {

/// The analysis of an ensemble of N members in the space that its anomalies span, by the symmetric square root (B. R.
/// Hunt, E. J. Kostelich, I. Szunyogh, Physica D 230, 112 (2007), eqs. 20 to 25). Deterministic.
class EnsembleTransform {
 public:
  explicit EnsembleTransform(int members);

  /// `anomalies`: N x p, the members' observed values minus their mean, each divided by the standard deviation of its
  /// observation error; localisation multiplies by the square root of its weight. `innovations`: p, observation minus
  /// mean, scaled alike. `inflation`: factor of the background covariance. `weights`: N x N, output; the analysis of
  /// member m is the background mean plus sum over k of weights(m, k) times anomaly k. NumericalError when values are
  /// not finite.
  void compute(std::span<const double> anomalies, std::span<const double> innovations, double inflation,
               std::span<double> weights);

 private:
  int members_;
  std::vector<double> matrix_, value_, pull_, component_;
};

}  // namespace cambium::assimilate
