#pragma once
#include <array>

#include "core/particles/box.hpp"

namespace cambium::md {

/// Properties of a system for the error estimates of an Ewald sum.
struct ChargedCell {
  double count = 0.0;           ///< charged atoms
  double squares = 0.0;         ///< sum of q^2, e^2
  double volume = 0.0;          ///< Å^3
  std::array<double, 3> edges;  ///< lengths of the cell vectors, Å
};

/// Estimated root mean square errors of the Coulomb force on an atom, in e^2/(4 pi eps0 Å^2), for charges at random
/// positions.
///
/// Error of the real-space sum truncated at `cutoff`: J. Kolafa and J. W. Perram, Mol. Simul. 9, 351 (1992).
double real_space_error(const ChargedCell& cell, double alpha, double cutoff);
/// Error of the reciprocal sum truncated at wave numbers of k_max (1/Å).
double wave_sum_error(const ChargedCell& cell, double alpha, double k_max);
/// Error of a smooth particle-mesh sum with B-splines of even order: waves beyond the mesh, and aliases of the others.
double mesh_error(const ChargedCell& cell, double alpha, const std::array<int, 3>& mesh, int order);

/// Smallest alpha (1/Å) whose real-space error is below `error`.
double choose_alpha(const ChargedCell& cell, double cutoff, double error);
/// Smallest k_max (1/Å) whose error is below `error`.
double choose_k_max(const ChargedCell& cell, double alpha, double error);
/// Coarsest mesh of nearly equal spacings whose error is below `error`, with even numbers of points without prime
/// factors above 7; all zero if more than 1024 points along an edge would be needed.
std::array<int, 3> choose_mesh(const ChargedCell& cell, double alpha, int order, double error);

}  // namespace cambium::md
