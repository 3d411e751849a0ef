#pragma once
#include "plugins/submatrix/columns/block_exchange.hpp"

namespace cambium::submatrix {

/// Estimate of the smallest eigenvalue of a matrix.
struct LowestState {
  double value = 0.0;  ///< Rayleigh quotient of a vector: the smallest eigenvalue is no larger than this
  int block = 0;       ///< that holds most of the vector
  int products = 0;    ///< products with the matrix that were needed
};

/// Workspace of smallest_eigenvalue(); all symmetric, own columns.
struct LowestProblem {
  const BlockColumns& matrix;
  /// About matrix^-1/2, or null: its square is the preconditioner.
  const BlockColumns* root = nullptr;
  /// Added to the matrix, or null: a projector on vectors that are not looked for.
  const BlockColumns* raised = nullptr;
};

/// Collective: the smallest eigenvalue of an entire distributed symmetric positive definite matrix, by locally optimal
/// conjugate gradients (A. V. Knyazev, SIAM J. Sci. Comput. 23, 517 (2001)). It stops when several steps together have
/// lowered the value by less than a hundredth, or after `most` products; the result is always an upper bound.
/// Independent of the number of ranks up to rounding.
LowestState smallest_eigenvalue(const LowestProblem& problem, const ColumnRanges& ranges, const Comm& comm, int most);

}  // namespace cambium::submatrix
