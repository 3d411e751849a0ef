#pragma once
#include <array>
#include <string>

namespace cambium::submatrix {

/// The longest covalent bond over r0.
inline constexpr double longest_bond = 1.25;

/// A radial function and its slope.
struct Radial {
  double value = 0.0, slope = 0.0;
};

/// Orthogonal sp3 tight binding with distance-dependent two-centre integrals and a repulsion: eV, Å.
struct TightBindingModel {
  std::string symbol, source;
  double e_s, e_p;
  std::array<double, 4> hopping;  ///< V_ss sigma, V_sp sigma, V_pp sigma, V_pp pi at r0
  double r0, n, n_c, r_c;         ///< s(r) = (r0/r)^n exp(n [(r0/r_c)^n_c - (r/r_c)^n_c])
  double phi0, d0, m, m_c, d_c;   ///< phi(r) = phi0 (d0/r)^m exp(m [(d0/d_c)^m_c - (r/d_c)^m_c])
  double r1, d1;                  ///< where the cubic tails of s and phi begin
  std::array<double, 4> s_tail, phi_tail;
  std::array<double, 5> embedding;  ///< repulsive energy per atom: polynomial in the sum of phi over its neighbours
  double cutoff;                    ///< Å

  Radial scaling(double r) const;    ///< of the hopping
  Radial repulsion(double r) const;  ///< phi
  Radial embed(double sum) const;
};

/// Parameters "xu" of C (Xu, Wang, Chan and Ho 1992), "bowler" (Bowler and others 1998) and "goodwin" (Goodwin, Skinner
/// and Pettifor 1989) of Si; "" is the first of its element. InputError for others.
TightBindingModel tight_binding_model(const std::string& symbol, const std::string& parameters = "");

/// 4 x 4 block <s, x, y, z of i| H |s, x, y, z of j> (row-major), d = r_j - r_i, and its derivatives with respect to d.
void hopping_block(const TightBindingModel& model, const double* d, double* block, double* gradient);

}  // namespace cambium::submatrix
