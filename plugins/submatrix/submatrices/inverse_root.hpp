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

/// Smallest eigenvalue of S for which S^-1/2 is trusted, and that below which it is refused.
inline constexpr double soft_overlap = 1e-4, singular_overlap = 1e-6;

/// Collective: the inverse square root of a symmetric positive definite matrix by the submatrix method, own columns.
/// With a `threshold` eigenvectors of submatrices with an eigenvalue up to it are left out: canonical orthogonalisation
/// (P.-O. Löwdin, Adv. Quantum Chem. 5, 185 (1970)). Throws InputError when an eigenvalue is not positive (with
/// threshold: is below -threshold), with its value and block.
RootResult inverse_root(const BlockColumns& overlap, const ColumnRanges& ranges, double eps, double threshold,
                        ColumnSolver& solver, const Comm& comm, std::int64_t& bytes, double& flops);

/// Collective. Checks S for near singularity, for a result without `overlap_threshold`: InputError if its smallest
/// eigenvalue on any rank, near block `column`, is below `singular_overlap`, a warning below `soft_overlap`, and
/// another one below ten times the threshold `eps` of its blocks, which the deck calls `key`. Returns the eigenvalue.
double judge_overlap(double smallest, int column, std::string_view key, double eps, const Comm& comm, Log& log);

/// Collective. The same for the smallest eigenvalue of the entire S, which its submatrices may miss: if functions
/// overlap from molecule to molecule, all together may be nearly dependent, although no few of them are. `seen`: the
/// smallest eigenvalue of a submatrix, as judge_overlap() returned it. With a threshold, states in `left_out` do not
/// count, but those that the threshold should have removed do. Returns the smaller of the two.
double judge_whole_overlap(const BlockColumns& overlap, const RootResult* root, double seen, const ColumnRanges& ranges,
                           const DensityOptions& options, Context& context);

/// Collective: the same with the solver and precision of density_matrix() (`options.eps_overlap`). Checked by
/// judge_overlap() (without threshold) and judge_whole_overlap(). Section "overlap" of context.timing.
RootResult overlap_root(const MatrixSystem& system, const DensityOptions& options, Context& context);

}  // namespace cambium::submatrix
