#pragma once
#include "core/particles/image_system.hpp"
#include "plugins/deepmd/engine/engine.hpp"

namespace cambium::deepmd {

/// Prediction of a model for one configuration.
struct Evaluation {
  double energy = 0.0;                             ///< eV
  double virial[9] = {};                           ///< eV, -sum dE/dr_a r_b, row-major
  std::vector<std::array<double, 3>> force;        ///< eV/Å
  std::vector<double> atom_energy;                 ///< eV
  std::vector<std::array<double, 9>> atom_virial;  ///< eV; each pair's part goes to the neighbour
};

/// Evaluates an engine on positions (Å) with model types; without a cell nothing is periodic. `aparam` (optional) has
/// the model's number of values for every atom, row by row.
Evaluation evaluate(Engine& engine, std::span<const std::array<double, 3>> positions, std::span<const int> types,
                    const std::optional<Box>& box = {}, std::span<const double> aparam = {});

}  // namespace cambium::deepmd
