#pragma once
#include <string>
#include <vector>

#include "plugins/kinetic/species/species.hpp"

namespace cambium::kinetic {

/// Moments of the second and third order about the mean velocity u of a species with the mass m, w = v - u:
enum class HigherMoment {
  pressure,     ///< the tensor P_ij = m integral(w_i w_j f), i <= j
  heat_flux,    ///< the vector q_i = m/2 integral(w_i w^2 f)
  third_moment  ///< the full tensor Q_ijk = m integral(w_i w_j w_k f), i <= j <= k
};

/// The components of such moments, over the velocities of the grid only: "pressure_xx", "heat_flux_x", ...
std::vector<std::string> component_names(HigherMoment moment, int velocities);

/// Collective: each component as an expansion over this rank's cells of configuration space, [component][cell][mode],
/// of slot 0. Integrals of v_i v_j f and v_i v_j v_k f are exact; what follows from them is taken at the Gauss points
/// of each cell (twice the order and more along each dimension) and projected. Where density is not positive, moments
/// about the mean are 0.
std::vector<std::vector<double>> higher_moments(const Species& species, HigherMoment moment);

}  // namespace cambium::kinetic
