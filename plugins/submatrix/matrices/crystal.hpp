#pragma once
#include <optional>
#include <string>

#include "core/deck/describe.hpp"
#include "core/particles/lattice.hpp"
#include "plugins/submatrix/matrices/matrix_system.hpp"

namespace cambium::submatrix {

/// A crystal of carbon or silicon whose tight-binding Hamiltonian a task takes instead of matrices from a file. Its
/// atoms are displaced and its cell is strained at random, as a function of (seed of the run, frame).
struct CrystalInput {
  LatticeSpec lattice;
  std::optional<std::string> parameters;
  double strain = 0.0;  ///< largest component of the random symmetric strain
  double reach = 0.0;   ///< Å; 0: every submatrix holds all atoms
  std::int64_t frame = 0;
  static void describe(deck::Describe<CrystalInput>& d);
};

/// Collective. Columns are distributed evenly; one block per atom, four functions (s, x, y, z) each, hartree.
/// InputError for other elements, and for a cell smaller than twice the cut-off of the Hamiltonian.
MatrixSystem crystal_matrices(const CrystalInput& input, std::int64_t frame, std::uint64_t seed, const Comm& comm);

}  // namespace cambium::submatrix
