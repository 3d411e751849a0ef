#pragma once
#include <array>

#include "core/particles/box.hpp"

namespace cambium::md {

/// What error estimates of an Ewald sum need of a system.
struct ChargedCell {
  double count = 0.0;           ///< charged atoms
  double squares = 0.0;         ///< sum of q^2, e^2
  double volume = 0.0;          ///< Å^3
  std::array<double, 3> edges;  ///< lengths of the cell vectors, Å
};

/// Estimated root mean square errors of the Coulomb force of an atom, in e^2/(4 pi eps0 Å^2), for charges at random
/// places.
///
/// Of the real-space sum that ends at `cutoff`: J. Kolafa and J. W. Perram, Mol. Simul. 9, 351 (1992).
double real_space_error(const ChargedCell& cell, double alpha, double cutoff);
/// Of the reciprocal sum that ends at wave numbers of k_max (1/Å).
double wave_sum_error(const ChargedCell& cell, double alpha, double k_max);
/// Of a smooth particle-mesh sum with B-splines of even order: waves beyond the mesh, and the aliases of the others.
double mesh_error(const ChargedCell& cell, double alpha, const std::array<int, 3>& mesh, int order);

/// The smallest alpha (1/Å) whose real-space error is below `error`.
double choose_alpha(const ChargedCell& cell, double cutoff, double error);
/// The smallest k_max (1/Å) whose error is below `error`.
double choose_k_max(const ChargedCell& cell, double alpha, double error);
/// The coarsest mesh of nearly equal spacings whose error is below `error`, of even numbers without prime factors above
/// 7; all zero where more than 1024 points along an edge would be needed.
std::array<int, 3> choose_mesh(const ChargedCell& cell, double alpha, int order, double error);

}  // namespace cambium::md
