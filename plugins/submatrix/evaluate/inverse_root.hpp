#pragma once
#include <cstdint>

#include "core/numerics/block_exchange.hpp"
#include "plugins/submatrix/evaluate/column_solver.hpp"

namespace cambium::submatrix {

struct RootResult {
  BlockColumns root;               ///< S^-1/2 on the pattern of S with threshold eps, symmetric
  double smallest = 0.0;           ///< smallest eigenvalue met in a submatrix of S
  int smallest_column = 0;         ///< and the block column in which
  double mean_dimension = 0.0;
  int largest_dimension = 0;
  double mean_steps = 0.0;
};

/// Collective: the inverse square root of a symmetric positive definite matrix by the submatrix method, own columns.
/// Throws InputError when an eigenvalue is not positive, with its value and block.
RootResult inverse_root(const BlockColumns& overlap, const ColumnRanges& ranges, double eps, ColumnSolver& solver, const Comm& comm,
                        std::int64_t& bytes, double& flops);

}  // namespace cambium::submatrix
