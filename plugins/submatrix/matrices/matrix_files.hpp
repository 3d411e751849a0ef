#pragma once
#include <string>
#include <vector>

#include "plugins/submatrix/matrices/file_ranks.hpp"
#include "plugins/submatrix/matrices/matrix_system.hpp"

namespace cambium::submatrix {

/// Matrices of one cell in files of other programs, and how their rows are partitioned.
struct MatrixFiles {
  std::string hamiltonian;
  std::string overlap = {};           ///< "": the identity
  std::string hamiltonian_down = {};  ///< of spin down, or ""
  std::vector<int> molecule = {};     ///< functions of each atom of one molecule, repeated until the rows are used up
  std::string atom_sizes = {};        ///< instead: a text with the functions of every atom, in the order of the rows
  BlockKind blocks = BlockKind::molecule;
  int block_functions = 0;  ///< for BlockKind::metis: functions of a block, about
  double to_hartree = 1.0;  ///< energies are multiplied by it
};

/// Collective. Both matrices, see read_stored_elements(). Each rank reads a part of every file, sends its elements to
/// the ranks that own their rows and columns, and keeps its own block columns: no rank holds a complete matrix. Every
/// rank has the list of blocks; for METIS one rank holds the graph of the atoms. Elements of a complex matrix are kept
/// as real blocks, see MatrixSystem::copies. InputError, the same on every rank, for files that are inconsistent with
/// each other or with the sizes, and if a matrix is not symmetric (Hermitian).
MatrixSystem read_matrix_files(const MatrixFiles& files, const FileRanks& ranks);

}  // namespace cambium::submatrix
