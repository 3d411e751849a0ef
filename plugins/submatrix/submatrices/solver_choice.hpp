#pragma once
#include <memory>

#include "plugins/submatrix/submatrices/submatrix_patterns.hpp"

namespace cambium::submatrix {

/// Who solves the submatrices, how exactly, and for which mu.
class SolverChoice {
 public:
  SolverChoice(const DensityJob& job, const SubmatrixPatterns& patterns) : job_(job), patterns_(patterns) {}

  std::unique_ptr<ColumnSolver> make(const KrylovOptions& krylov) const;
  KrylovOptions krylov() const;
  /// The solver for this submatrix, kept as long as it will do. A Krylov space that would fill half of a group's
  /// submatrix costs more than diagonalising it, which then is done.
  ColumnSolver& of(const PrincipalIndex& index);
  /// No solver is kept: the blocks that they took have changed.
  void forget() { kept_.reset(); }
  /// Solvers whose own error does not matter.
  ExactSolvers exact(const std::optional<ColumnSet>& overlap, double tolerance) const;

  /// Hartree; for which columns are solved.
  double mu() const { return mu_; }
  void set_mu(double mu) { mu_ = mu; }
  /// Krylov blocks that tried columns needed.
  void expect(int krylov_blocks) { first_blocks_ = krylov_blocks; }
  int expected() const { return first_blocks_; }  ///< 0: not known

 private:
  DensityJob job_;
  const SubmatrixPatterns& patterns_;
  std::unique_ptr<ColumnSolver> kept_, dense_;
  int width_ = 0, first_blocks_ = 0;
  double mu_ = 0.0;
};

}  // namespace cambium::submatrix
