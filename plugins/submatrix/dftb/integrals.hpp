#pragma once
#include <vector>

#include "plugins/submatrix/columns/block_columns.hpp"
#include "plugins/submatrix/dftb/atoms.hpp"
#include "plugins/submatrix/dftb/parameters.hpp"

namespace cambium::submatrix {

/// H without charges and S of all pairs of atoms within reach, an atom's own blocks included; the same on every rank.
/// Block e has rows of the atom of pair e and columns of the other one, from element `offset[e]` on.
struct DftbIntegrals {
  DftbPairs pairs;
  ColumnRanges ranges;               ///< atoms of each rank
  std::vector<int> functions;        ///< of each atom
  std::vector<int> first_function;   ///< of each atom, and the end
  std::vector<std::int64_t> offset;  ///< of each pair, and the end
  std::vector<double> h, s;

  int dimension() const { return first_function.back(); }
  std::int64_t begin(int rank) const { return pairs.first[ranges.begin(rank)]; }
  std::int64_t end(int rank) const { return pairs.first[ranges.end(rank)]; }
};

/// Collective: ranks compute the blocks of their own atoms. InputError if two atoms coincide.
DftbIntegrals integrals_of(const DftbAtoms& atoms, const DftbParameters& parameters, const Comm& comm);

/// Adds forces on own atoms (3 each) and their contribution to the virial, from D of each channel and W of all: those
/// of 2 Tr(D dH) + 2 Tr(D (V_a + V_b)/2 dS) - 2 Tr(W dS) and of the repulsion; returns the repulsion of own atoms.
/// `density`: of each channel, blocks as above; `potential`: of each channel, V of the shells of all atoms. `step`: of
/// central differences for dH and dS, 0: exact. Hartree and bohr.
double add_band_forces(const DftbAtoms& atoms, const DftbParameters& parameters, const DftbIntegrals& integrals,
                       const std::vector<std::vector<double>>& density, const std::vector<double>& weighted,
                       const std::vector<std::vector<double>>& potential, double step, int rank, double* force,
                       double* virial);

}  // namespace cambium::submatrix
