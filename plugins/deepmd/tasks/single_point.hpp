#pragma once
#include <optional>

#include "core/plugin/potential.hpp"
#include "plugins/deepmd/data/system.hpp"

namespace cambium::deepmd {

/// Atoms of one configuration, without a domain decomposition.
struct Configuration {
  std::vector<Species> species;
  std::vector<int> types;                ///< indices of species
  std::vector<std::array<double, 3>> x;  ///< Å
  Box box;
  GivenAxes axes = {};   ///< in which it was given
  bool periodic = true;  ///< false: nothing is, and there is no box
};

/// Result of any potential for a configuration: energy, forces and virial as labels. `context` has one rank; the
/// potential is bound to the configuration's species. InputError names a potential whose energy is not finite.
LabelledFrame single_point(Potential& potential, const Configuration& configuration, Context& context);

}  // namespace cambium::deepmd
