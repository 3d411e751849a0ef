#pragma once
#include <vector>

#include "surd.hpp"

namespace kinetic_generate {

// Exact integrals over [-1, 1] of the normalised Legendre polynomials psi_n = sqrt((2n+1)/2) P_n.

Surd triple_product(int a, int b, int c);  ///< integral of psi_a psi_b psi_c
Surd times_xi(int a, int b);               ///< integral of xi psi_a psi_b
Surd derivative(int a, int b);             ///< integral of psi_a' psi_b
Surd edge_value(int n);                    ///< psi_n(+1); at -1 it has the sign (-1)^n
Surd xi_moment(int power, int n);          ///< integral of xi^power psi_n
/// psi_n at a point.
double legendre(int n, double xi);

}  // namespace kinetic_generate
