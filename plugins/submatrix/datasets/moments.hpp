#pragma once
#include <vector>

#include "plugins/submatrix/columns/column_solver.hpp"

namespace cambium::submatrix {

/// The energies that Chebyshev polynomials map to [-1, 1] (hartree).
struct Window {
  double low = -1.0, high = 1.0;
};

/// Appends the moments k = 1 .. count of a local spectrum, per function of the block:
///   m_k = 1 / functions sum_j w_j T_k((x_j - middle) / half) = tr_block T_k((H - middle) / half) / functions.
/// They are invariant under rotations of the functions of the block, exist for every Hamiltonian, and are exact for k <
/// 2 n when the spectrum is the quadrature of n Krylov blocks: they depend on paths of k steps in H.
void add_moments(const Spectrum& spectrum, const Window& window, int functions, int count, std::vector<double>& out);

}  // namespace cambium::submatrix
