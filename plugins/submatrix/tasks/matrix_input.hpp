#pragma once
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "plugins/submatrix/matrices/crystal.hpp"
#include "plugins/submatrix/matrices/matrix_system.hpp"

namespace cambium::submatrix {

/// Where Hamiltonian and overlap come from.
struct MatrixInput {
  std::string file;                  ///< HDF5 with both, or
  std::string hamiltonian, overlap;  ///< one file each, of CP2K or Matrix Market
  std::string hamiltonian_down;      ///< with hamiltonian: that of the other spin
  std::vector<int> molecule;         ///< then: functions of each atom of one molecule
  std::vector<int> supercell{1, 1, 1};
  BlockKind blocks = BlockKind::molecule;
  std::string unit = "hartree";
  std::optional<CrystalInput> tight_binding;  ///< instead of files
  static void describe(deck::Describe<MatrixInput>& d);
};

/// Collective. Every rank reads the cell (small) and assembles its own columns of the supercell.
MatrixSystem read_matrices(const MatrixInput& input, Context& context);

}  // namespace cambium::submatrix
