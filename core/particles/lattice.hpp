#pragma once
#include <array>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/particles/structure.hpp"

namespace cambium {

enum class LatticeType { sc, bcc, fcc, diamond, hcp, rock_salt };

/// A crystal in an orthogonal cell. Conventional cells: sc 1 atom, bcc 2, fcc 4, diamond and rock salt 8; hcp has 4
/// atoms in the orthogonal cell a, sqrt(3) a, c.
struct LatticeSpec {
  LatticeType type = LatticeType::fcc;
  double a = 0.0;                        ///< lattice constant, Å
  double c_over_a = 1.632993161855452;   ///< hcp only; sqrt(8/3) for close-packed spheres
  std::array<int, 3> cells = {1, 1, 1};  ///< conventional cells along x, y, z
  std::vector<std::string>
      species;                ///< one for all atoms, or one per atom of the conventional cell; two halves of 8 atoms
  double displacement = 0.0;  ///< largest random displacement along each axis, Å

  static void describe(deck::Describe<LatticeSpec>& d);
};

/// Positions of the atoms of the conventional cell, in fractions of it. For bcc the second atom is the centre; for
/// diamond and rock salt the first four are one fcc lattice and the last four the other, so that species can be given
/// apart.
std::vector<std::array<double, 3>> lattice_basis(LatticeType type);

/// Number of atoms of the crystal. InputError if it overflows.
std::int64_t atoms_of(const LatticeSpec& spec);

/// This rank's even part of the crystal. Tags (and, with `seed`, displacements) do not depend on the number of ranks.
/// Throws InputError if the number of species is neither one nor that of the basis, nor two for the two fcc lattices of
/// diamond and rock salt, and if the atoms do not fit into
/// memory.
Structure make_lattice(const LatticeSpec& spec, const Comm& comm, std::uint64_t seed);

}  // namespace cambium
