#pragma once
#include <string>
#include <vector>

#include "plugins/submatrix/matrices/cell_matrices.hpp"

namespace cambium::submatrix {

/// A symmetric matrix of one cell (Gamma point) as other programs write it; both triangles in the result. By its first
/// bytes the file is one of
///   Matrix Market, see read_matrix_market(): a line that is meant as a banner may stand behind blank lines and
///   remarks; CP2K's *_CSR_WRITE, lines "row column value" (counted from 1), one triangle or both; the same with BINARY
///   T: Fortran records of two 4-byte integers and a double.
/// Zeros may be left out; without a banner the last element of the diagonal must be there, no element may be there
/// twice, and a first line of three whole numbers that may be a line of sizes is refused. InputError, with file and
/// line, for other contents and a truncated file.
struct MatrixFile {
  int rows = 0;
  std::vector<LatticeEntry> entries;
  std::vector<std::string> notes = {};  ///< what the log should say
};
MatrixFile read_matrix_file(const std::string& path);

/// Both matrices of a cell from such files (`overlap` may be "": the identity). `molecule` holds the functions of each
/// atom of one molecule and is repeated until the rows are used up; energies are multiplied by `to_hartree`.
/// `hamiltonian_down`: of spin down.
CellSystem read_matrix_files(const std::string& hamiltonian, const std::string& overlap,
                             const std::vector<int>& molecule, BlockKind kind, double to_hartree,
                             const std::string& hamiltonian_down = "");

}  // namespace cambium::submatrix
