#pragma once
#include <string>

#include "plugins/kinetic/solver/phase_grid.hpp"

namespace cambium::kinetic {

/// The species that collides, for messages.
struct CollidingSpecies {
  std::string name;
  bool limited = false;  ///< 'positivity' is true
};

/// NumericalError for a density and a squared thermal speed at a node of this rank's cell `cell` of configuration space
/// that no Maxwellian has.
[[noreturn]] void refuse_state(const CollidingSpecies& species, double density, double square, const PhaseGrid& grid,
                               int cell);

/// "[3, 0] (x = 0.7, y = 0.1)": this rank's cell `cell` of configuration space, in global indices.
std::string place_of_cell(const PhaseGrid& grid, int cell);

}  // namespace cambium::kinetic
