#pragma once
#include <cstdint>

#include "core/numerics/block_exchange.hpp"
#include "plugins/submatrix/evaluate/density_matrix.hpp"

namespace cambium::submatrix {

struct RootResult {
  BlockColumns root;               ///< S^-1/2 on the pattern of S with threshold eps, symmetric
  double smallest = 0.0;           ///< smallest eigenvalue met in a submatrix of S
  int smallest_column = 0;         ///< and the block column in which
  double mean_dimension = 0.0;
  int largest_dimension = 0;
  double mean_steps = 0.0;
  std::int64_t bytes = 0;          ///< received by this rank
  double flops = 0.0;              ///< of this rank
};

/// Collective: the inverse square root of a symmetric positive definite matrix by the submatrix method, own columns.
/// Throws InputError when an eigenvalue is not positive, with its value and block.
RootResult inverse_root(const BlockColumns& overlap, const ColumnRanges& ranges, double eps, ColumnSolver& solver, const Comm& comm,
                        std::int64_t& bytes, double& flops);

/// Collective: the same as density_matrix() takes it, with its choice of solver and precision (`options.eps_overlap`). Section
/// "overlap" of context.timing.
RootResult overlap_root(const MatrixSystem& system, const DensityOptions& options, Context& context);

}  // namespace cambium::submatrix
