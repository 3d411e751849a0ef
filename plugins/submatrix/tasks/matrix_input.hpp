#pragma once
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "plugins/submatrix/dftb/bands.hpp"
#include "plugins/submatrix/matrices/crystal.hpp"
#include "plugins/submatrix/matrices/matrix_system.hpp"
#include "plugins/submatrix/matrices/ring.hpp"

namespace cambium::submatrix {

/// Source of Hamiltonian and overlap.
struct MatrixInput {
  std::string file;                  ///< HDF5 with both, or
  std::string hamiltonian, overlap;  ///< one file each, of another program
  std::string hamiltonian_down;      ///< with hamiltonian: that of the other spin
  std::vector<int> molecule;         ///< then: functions of each atom of one molecule
  std::string atom_sizes;            ///< or a text with those of every atom
  std::vector<int> supercell{1, 1, 1};
  std::optional<KPointKeys> k_points;  ///< of `file`
  BlockKind blocks = BlockKind::molecule;
  int block_functions = 24;  ///< of a block that METIS makes
  std::string unit = "hartree";
  std::optional<CrystalInput> tight_binding;  ///< instead of files
  std::optional<RingInput> ring;              ///< instead of files
  static void describe(deck::Describe<MatrixInput>& d);
};

/// Collective. Of `file` every rank reads the cell (small) and assembles its own columns of the supercell or at the
/// k-points; of `hamiltonian` and `overlap` each reads a part.
MatrixSystem read_matrices(const MatrixInput& input, Context& context);

}  // namespace cambium::submatrix
