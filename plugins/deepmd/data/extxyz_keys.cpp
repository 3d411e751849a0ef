#include "plugins/deepmd/data/extxyz_keys.hpp"

#include <fmt/format.h>

namespace cambium::deepmd {

ExtxyzLabels ExtxyzKeys::labels() const {
  ExtxyzLabels out;
  out.energy = energy;
  out.force = force;
  out.virial = virial;
  out.stress = stress;
  out.energy_factor = conversion(energy_unit, "eV");
  out.length_factor = conversion(length_unit, "angstrom");
  return out;
}

std::string ExtxyzKeys::wrong_unit() const {
  for (const auto& [unit, like] : {std::pair{energy_unit, "eV"}, {length_unit, "angstrom"}}) {
    std::string problem;
    const auto found = parse_unit(unit, &problem);
    if (!found) return problem;
    if (!(found->dimension == unit_of(like).dimension)) return fmt::format("'{}' is not a unit like {}", unit, like);
  }
  return "";
}

}  // namespace cambium::deepmd
