#pragma once
#include "plugins/submatrix/density/density_matrix.hpp"

namespace cambium::submatrix {

/// Collective. The density matrix of an orthogonal Hamiltonian from one diagonalisation of all of it, which every rank
/// repeats: exact, and cheaper than submatrices that would each hold every block. Blocks of D where the Hamiltonian has
/// one. Of the options it takes kt, mu and electrons. InputError beyond 16384 functions (12 GB on each rank).
DensityResult dense_density(const MatrixSystem& system, const DensityOptions& options, const Comm& comm);

/// Collective. All of a matrix on every rank, row-major.
std::vector<double> dense_matrix(const BlockColumns& matrix, const ColumnRanges& ranges, const Comm& comm,
                                 std::int64_t& bytes);

}  // namespace cambium::submatrix
