#pragma once
#include <string>

#include "plugins/submatrix/matrices/cell_matrices.hpp"

namespace cambium::submatrix {

/// Reads a cell from Cambium's HDF5 layout. Attributes: `n_electrons` or `n_electrons_per_cell`. Datasets:
/// block_sizes_atom (functions of each atom), molecule_of_atom, optionally atomic_numbers. Either the groups K and S,
/// each a symmetric matrix in 0-based CSR (data, indices, indptr; attribute shape) of which the upper triangle is
/// stored, or R (cells x 3) and for each cell q the groups R_qq/K and R_qq/S with all elements, one cell of each pair
/// +R, -R or both. Duplicate elements are summed. Hartree. K_down next to K (in the same form) is the Hamiltonian of
/// spin down, K then that of spin up. Throws InputError for missing, truncated, unsymmetric or non-finite data, with
/// row and column.
CellSystem read_hdf5_cell(const std::string& path, BlockKind kind);

/// Reference values stored in such a file for a supercell of n cells each way (n = 1: also the file's own attributes).
Reference read_hdf5_reference(const std::string& path, Cell n);

}  // namespace cambium::submatrix
