#pragma once
#include <optional>
#include <span>
#include <vector>

#include "plugins/submatrix/blocks/error_sample.hpp"
#include "plugins/submatrix/blocks/matrix_error.hpp"
#include "plugins/submatrix/density/column_solutions.hpp"

namespace cambium::submatrix {

/// Error estimator: solves a random sample of submatrices again with all tolerances tightened and extrapolates the
/// differences to all of them.
class ErrorEstimator {
 public:
  ErrorEstimator(const DensityJob& job, const SubmatrixPatterns& patterns, const SolverChoice& solvers,
                 Couplings& couplings, Reach& reach)
      : job_(job), patterns_(patterns), solvers_(solvers), couplings_(couplings), reach_(reach) {}

  /// Collective: draws the sample. Call this before the patterns fetch what they need.
  void draw();
  const StratifiedSample& drawn() const { return drawn_; }
  /// Collective: fills the error of the result. `root`: S^-1/2, if it was used to orthogonalise the matrices.
  void estimate(const ColumnSolutions& solutions, const BlockColumns* root);

 private:
  /// One drawn submatrix with all tolerances tightened, and its differences.
  struct Judged;
  std::vector<Judged> drawn_here() const;
  void solve(std::vector<Judged>& judged, const ColumnSet& hamiltonian, const std::optional<ColumnSet>& overlap,
             bool grown);
  void widen(std::vector<Judged>& judged);
  void compare(Judged& judged, const Spectrum& own, const ExactSolvers& solvers);
  std::vector<double> changes_by_wider(const ColumnSolutions& solutions) const;
  void state(std::span<const double> values, double known);

  DensityJob job_;
  const SubmatrixPatterns& patterns_;
  const SolverChoice& solvers_;
  Couplings& couplings_;
  Reach& reach_;
  StratifiedSample drawn_;  ///< submatrices by their first column
  double flops_ = 0.0;
};

}  // namespace cambium::submatrix
