#pragma once
#include <vector>

#include "core/parallel/comm.hpp"
#include "plugins/submatrix/columns/column_solver.hpp"

namespace cambium::submatrix {

/// 1 / (1 + exp((x - mu) / kT)); a step, 1/2 at mu itself, for kT = 0.
double occupation(double x, double mu, double kt);

/// Electrons (two per state) as a function of mu, from the quadrature of all block columns of all ranks. All
/// of it is collective.
class ElectronCount {
 public:
  ElectronCount(const std::vector<Spectrum>& columns, double kt, const Comm& comm);

  double operator()(double mu) const;
  /// The nearest states around mu that hold together more than `weight` electrons on either side: where the count
  /// reaches count(mu) -+ weight.
  struct Gap {
    double low, high;
    double width() const { return high - low; }
    double middle() const { return 0.5 * (low + high); }
  };
  /// With `start`, the search begins around its two states and finds the same.
  Gap gap_around_count(double electrons, double weight, const Gap* start = nullptr) const;
  /// The widest gap around a number of electrons that may be off by about `uncertainty`, u: at d electrons from it a
  /// gap must be 1 + (d/u)^2 times as wide as one with d = 0. Counts within 2 `weight` of each other are one plateau.
  Gap widest_gap(double electrons, double uncertainty, double weight) const;
  /// The widest gap with a number of electrons within `window` of this one.
  Gap widest_within(double electrons, double window, double weight) const;
  /// mu for this number of electrons: for kT = 0 the middle of the plateau on which the count is within `weight` of it,
  /// else a zero of the smooth count to 1e-13 of the number of electrons. With `start`, the search begins there.
  double mu_of(double electrons, double weight, const Gap* start = nullptr) const;
  /// The same mu, but in a gap much wider than kT where there are as many electrons above as holes below, which
  /// converges to the middle: there the count is flat, and any truncation drags its zero to an edge of the gap.
  double fermi_level(double electrons, double weight) const;
  /// Number of evaluations of N(mu) so far, each of which takes one reduction over all ranks.
  int evaluations() const { return evaluations_; }

 private:
  struct Bracket {
    double low, high;
  };
  /// Results of one evaluation: electrons up to and at x, and number of states in (low, x] and (x, high].
  struct Step {
    double electrons, left, right;
  };
  Step step_at(double x, const Bracket& bracket) const;
  double edge(double electrons, const double* guess, double width) const;
  /// N at the points of an even grid over [low, high], which ascends; in one message.
  std::vector<double> on_grid(double low, double high, std::size_t points) const;
  template <class Score>
  double best_plateau(double electrons, double window, double weight, const Score& score) const;
  double smooth_zero(double electrons, Bracket bracket) const;
  double balanced_mu(const Gap& gap) const;
  double step_count(double mu) const;

  std::vector<double> node_, weight_, below_;  ///< ascending; below_: weight of all nodes before
  double kt_, lowest_, highest_, all_;
  mutable int evaluations_ = 0;
  const Comm& comm_;
};

}  // namespace cambium::submatrix
