#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace cambium::submatrix {

/// 0.975 quantile of Student's t distribution, for 95 % intervals (degrees of freedom are rounded down; at least 1).
double student_quantile(double degrees_of_freedom);

/// Stratified random sample of submatrices, which estimates the sum over all of them (W. G. Cochran, Sampling
/// Techniques, 1977, chapter 5; degrees of freedom after F. E. Satterthwaite, Biometrics Bulletin 2, 110 (1946)).
/// Strata are ranges of the score, a cheap estimate of a submatrix's contribution: half of a stratum's weight is its
/// number of submatrices, half the sum of their scores, so that the few that matter most are drawn more often.
class StratifiedSample {
 public:
  struct Unit {
    int id;        ///< the first block column of the submatrix; addresses its random number
    double score;  ///< not negative
  };
  struct Interval {
    double total = 0.0;       ///< estimate of the sum over all units
    double half_width = 0.0;  ///< of its 95 % interval, from the drawn units only
    bool alike = false;       ///< all drawn values are equal: the half width is meaningless for the others
  };

  StratifiedSample() = default;
  /// Draws `size` of all units, the same on every rank; all of them when there are no more.
  StratifiedSample(std::vector<Unit> all, int size, std::uint64_t seed);

  const std::vector<int>& drawn() const { return drawn_; }  ///< ids, ascending
  bool complete() const { return drawn_.size() == population_; }
  std::size_t population() const { return population_; }
  bool has(int id) const;
  /// `value`: of each drawn unit, in the order of drawn().
  Interval sum(std::span<const double> value) const;

 private:
  struct Stratum {
    std::size_t units = 0;
    std::vector<std::size_t> drawn;  ///< indices in drawn()
  };
  std::vector<int> drawn_;
  std::vector<Stratum> strata_;
  std::size_t population_ = 0;
};

}  // namespace cambium::submatrix
