#pragma once
#include <vector>

#include "plugins/submatrix/matrices/cell_matrices.hpp"

namespace cambium::submatrix {

/// H(k) = sum over R of exp(2 pi i k R) H(R), the same of S, of one cell at points of its Brillouin zone (of k and -k
/// one). All points are one block-diagonal system, so that they have one mu: point p has the blocks p B to (p + 1) B -
/// 1 of the B blocks of the cell. H(k) is real where 2 k is a lattice vector of the reciprocal space, elsewhere it is
/// kept as a real matrix of twice its size (MatrixSystem::copies). Each rank assembles the columns it will own.
/// InputError when the weights are no multiples of each other in this sense, and for two spins.
MatrixSystem at_k_points(const CellSystem& cell, const std::vector<BlochPoint>& points, const Comm& comm);

}  // namespace cambium::submatrix
