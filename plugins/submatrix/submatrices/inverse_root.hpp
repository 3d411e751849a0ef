#pragma once
#include <cstdint>
#include <string_view>

#include "plugins/submatrix/columns/block_exchange.hpp"
#include "plugins/submatrix/submatrices/density_options.hpp"

namespace cambium::submatrix {

struct RootResult {
  BlockColumns root;  ///< S^-1/2 on the pattern of S with threshold eps, symmetric
  /// With a threshold: the projector on the eigenvectors of S that were left out, and its trace.
  std::optional<BlockColumns> left_out;
  double functions_left_out = 0.0;
  double smallest = 0.0;    ///< smallest eigenvalue met in a submatrix of S
  int smallest_column = 0;  ///< and the block column in which
  double mean_dimension = 0.0;
  int largest_dimension = 0;
  double mean_steps = 0.0;
  std::int64_t bytes = 0;  ///< received by this rank
  double flops = 0.0;      ///< of this rank
};

/// The smallest eigenvalue of S for which S^-1/2 is trusted, and that below which it is not taken any more.
inline constexpr double soft_overlap = 1e-4, singular_overlap = 1e-6;

/// Collective: the inverse square root of a symmetric positive definite matrix by the submatrix method, own columns.
/// With a `threshold` eigenvectors of submatrices with an eigenvalue up to it are left out: canonical orthogonalisation
/// (P.-O. Löwdin, Adv. Quantum Chem. 5, 185 (1970)). Throws InputError when an eigenvalue is not positive (with
/// threshold: is below -threshold), with its value and block.
RootResult inverse_root(const BlockColumns& overlap, const ColumnRanges& ranges, double eps, double threshold,
                        ColumnSolver& solver, const Comm& comm, std::int64_t& bytes, double& flops);

/// Collective. What a nearly singular S means for a result without `overlap_threshold`: InputError where its smallest
/// eigenvalue on any rank, near block `column`, is below `singular_overlap`, a warning below `soft_overlap`, and
/// another one below ten times the threshold `eps` of its blocks, which the deck calls `key`. Returns it.
double judge_overlap(double smallest, int column, std::string_view key, double eps, const Comm& comm, Log& log);

/// Collective. The same for the smallest eigenvalue of S as a whole, which its submatrices may not see: where functions
/// overlap from molecule to molecule, no few of them are nearly dependent, all together are. `seen`: the smallest
/// eigenvalue of a submatrix, as judge_overlap() returned it. With a threshold what is `left_out` does not count, and
/// what the threshold should have found does. Returns the smaller of the two.
double judge_whole_overlap(const BlockColumns& overlap, const RootResult* root, double seen, const ColumnRanges& ranges,
                           const DensityOptions& options, Context& context);

/// Collective: the same as density_matrix() takes it, with its choice of solver and precision (`options.eps_overlap`).
/// Judged by judge_overlap() (without threshold) and judge_whole_overlap(). Section "overlap" of context.timing.
RootResult overlap_root(const MatrixSystem& system, const DensityOptions& options, Context& context);

}  // namespace cambium::submatrix
