#pragma once
#include <array>

#include "core/deck/describe.hpp"
#include "plugins/graph/molecules/molecule.hpp"

namespace cambium::graph {

/// Synthetic clusters, for decks that run without data.
struct MadeUp {
  std::int64_t molecules = 0;
  std::array<std::int64_t, 2> atoms{};
  double noise = 0.0;
  std::int64_t seed = 1;
  static void describe(deck::Describe<MadeUp>& d);
};

/// Molecule k is a function of (seed, k): trees of H, C, N, O with edge lengths equal to the sum of two radii within a
/// tenth, and these edges as bonds of order 1. Energies (kcal/mol) and forces of made_energy().
MoleculeTable make_molecules(const MadeUp& recipe);

/// A constant for each element, repulsive pairs, and for each atom a square root of the sum of its neighbours'
/// exponentials (second-moment form: Finnis and Sinclair, Phil. Mag. A 50, 45 (1984)), smoothly cut off at 4 Å. Sets
/// energy (kcal/mol) and force (kcal/mol/Å) from species and position.
void made_energy(Molecule& molecule);

}  // namespace cambium::graph
