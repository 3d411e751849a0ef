#pragma once
#include "core/deck/describe.hpp"
#include "plugins/submatrix/matrices/matrix_system.hpp"

namespace cambium::submatrix {

/// A ring of atoms with alternating couplings, W. P. Su, J. R. Schrieffer and A. J. Heeger, Phys. Rev. Lett. 42, 1698
/// (1979), continued to further neighbours: from an atom of even index to the atom 2 n + 1 bonds ahead the coupling is
/// t1 q^n, in the opposite direction t2 q^n, with q = exp(-1 / range), as long as q^n >= 1e-6. Each atom has further
/// functions whose bands are full or empty, and a random rotation mixes its functions, so that blocks are full. Levels
/// are known for any number of atoms.
struct RingInput {
  int atoms = 1000;
  int functions = 4;     ///< of each atom
  double gap = 0.2;      ///< hartree; 0: a metal
  double hopping = 0.3;  ///< mean of t1 and t2, hartree
  double range = 1.0;    ///< in units of two bonds; 0: neighbours only
  static void describe(deck::Describe<RingInput>& d);
};

/// Collective. Every rank computes its own block columns, one block per atom; columns are distributed evenly. The
/// reference holds the exact band energy and the levels around the gap. InputError for a ring that is shorter than the
/// reach of its couplings.
MatrixSystem ring_matrices(const RingInput& input, std::uint64_t seed, const Comm& comm);

/// All levels of the ring, ascending, hartree.
std::vector<double> ring_levels(const RingInput& input);

}  // namespace cambium::submatrix
