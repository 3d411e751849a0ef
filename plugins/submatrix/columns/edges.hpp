#pragma once
#include <memory>
#include <vector>

#include "plugins/submatrix/columns/column_solver.hpp"

namespace cambium::submatrix {

/// Covalent bonds of all atoms, by block number: those of atom k are first[k] .. first[k + 1] - 1.
struct BondGraph {
  std::vector<int> first{0}, other;
  std::vector<double> direction;  ///< unit vectors from the atom to `other`, 3 for each bond

  int atoms() const { return static_cast<int>(first.size()) - 1; }
};

/// Columns of the projector (4 x 4, row-major) that removes from the functions s, x, y, z of an atom the sp3 hybrids
/// 1/2 s + sqrt(3)/2 p_d along the directions d (3 components each).
void hybrid_projector(const std::vector<double>& directions, double* projector);

/// Block columns of functions of submatrices without dangling bonds: the sp3 hybrid along each bond that leaves the
/// submatrix is projected out of the Hamiltonian, P H P, so that dangling bonds have no states in the gap. The
/// Hamiltonian stays sparse inside Lanczos. `bonds` must outlive the solver. Blocks are 4 x 4.
std::unique_ptr<ColumnSolver> make_saturated_lanczos(const BondGraph& bonds, const KrylovOptions& options);
std::unique_ptr<ColumnSolver> make_saturated_diagonaliser(const BondGraph& bonds);

}  // namespace cambium::submatrix
