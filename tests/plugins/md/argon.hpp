#pragma once
// Argon as the tests of ensembles use it: small, so that long runs are cheap.
#include <fmt/format.h>

#include "core/base/constants.hpp"
#include "tests/plugins/md/md_run.hpp"

namespace cambium::test {

/// 108 atoms with a short cut-off, at the density of the liquid.
inline const std::string small_argon = R"(
structure: {lattice: {type: fcc, a: 5.719, cells: [3, 3, 3], species: [Ar], displacement: 0.1}}
potential: {type: lennard_jones, epsilon: 0.010323, sigma: 3.405, cutoff: 6.0, truncation: smooth}
)";

/// The same at the density of the crystal, where the perfect lattice is stable.
inline const std::string argon_crystal = R"(
structure: {lattice: {type: fcc, a: 5.3, cells: [3, 3, 3], species: [Ar], displacement: 0.1}}
potential: {type: lennard_jones, epsilon: 0.010323, sigma: 3.405, cutoff: 6.0, truncation: smooth}
)";

/// 2,048 atoms that do not feel each other: an ideal gas.
inline const std::string ideal_gas = R"(
structure: {lattice: {type: fcc, a: 12.0, cells: [8, 8, 8], species: [Ar]}}
potential: {type: lennard_jones, epsilon: 1e-12, sigma: 0.5, cutoff: 2.0, truncation: smooth}
skin: 4.0
)";

/// Bath of `keys` with the given temperature, and a time step in ps.
inline std::string bath(const std::string& keys, double temperature, double timestep) {
  return fmt::format("integrator: {{{}, temperature: {}}}\ninitial_temperature: {}\ntimestep: {}\n", keys, temperature,
                     temperature, timestep);
}

/// Equal within `sigmas` standard errors of both.
inline bool agree(const Estimate& a, const Estimate& b, double sigmas = 4.0) {
  return std::abs(a.value - b.value) < sigmas * std::sqrt(a.error * a.error + b.error * b.error);
}

}  // namespace cambium::test
