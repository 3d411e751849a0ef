#pragma once
#include "plugins/submatrix/columns/block_exchange.hpp"

namespace cambium::submatrix {

/// Where the smallest eigenvalue of a matrix lies.
struct LowestState {
  double value = 0.0;  ///< Rayleigh quotient of a vector: the smallest eigenvalue is no larger than this
  int block = 0;       ///< that holds most of the vector
  int products = 0;    ///< with the matrix that it took
};

/// Workspace of smallest_eigenvalue(); all symmetric, own columns.
struct LowestProblem {
  const BlockColumns& matrix;
  /// About matrix^-1/2, or null: its square is the preconditioner.
  const BlockColumns* root = nullptr;
  /// Added to the matrix, or null: a projector on vectors that are not looked for.
  const BlockColumns* raised = nullptr;
};

/// Collective: the smallest eigenvalue of a distributed symmetric positive definite matrix as a whole, by locally
/// optimal conjugate gradients (A. V. Knyazev, SIAM J. Sci. Comput. 23, 517 (2001)). It ends where some steps together
/// have lowered the value by less than a hundredth, or after `most` products; what it returns is always an upper bound.
/// The same on any number of ranks but for rounding.
LowestState smallest_eigenvalue(const LowestProblem& problem, const ColumnRanges& ranges, const Comm& comm, int most);

}  // namespace cambium::submatrix
