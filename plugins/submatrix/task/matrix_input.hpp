#pragma once
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "plugins/submatrix/matrices/matrix_system.hpp"

namespace cambium::submatrix {

/// Where Hamiltonian and overlap come from.
struct MatrixInput {
  std::string file;
  std::vector<int> supercell{1, 1, 1};
  BlockKind blocks = BlockKind::molecule;
  std::string unit = "hartree";
  static void describe(deck::Describe<MatrixInput>& d);
};

/// Collective. Every rank reads the cell (small) and assembles its own columns of the supercell.
MatrixSystem read_matrices(const MatrixInput& input, Context& context);

}  // namespace cambium::submatrix
