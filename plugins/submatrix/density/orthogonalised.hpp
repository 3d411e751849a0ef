#pragma once
#include "plugins/submatrix/submatrices/density_job.hpp"
#include "plugins/submatrix/submatrices/inverse_root.hpp"

namespace cambium::submatrix {

/// A Hamiltonian with the blocks that submatrices may need: with an error estimate down to eps / 10, for the columns on
/// which a smaller eps is tried.
struct PreparedMatrix {
  BlockColumns matrix;
  /// Hartree, of this rank: ColumnStatistics::dropped.
  double dropped = 0.0;
};

/// Collective: S^-1/2 H S^-1/2, or H itself where `root` is null.
PreparedMatrix orthogonalised(const DensityJob& job, const RootResult* root);

/// The local form: the pattern is that of H and S together, and each submatrix of both is a problem of its own.
PreparedMatrix of_both(const DensityJob& job);

}  // namespace cambium::submatrix
