#pragma once
#include <array>

#include "core/deck/describe.hpp"
#include "plugins/graph/molecules/molecule.hpp"

namespace cambium::graph {

/// Clusters that nobody measured, for decks that run without data.
struct MadeUp {
  std::int64_t molecules = 0;
  std::array<std::int64_t, 2> atoms{};
  double noise = 0.0;
  std::int64_t seed = 1;
  static void describe(deck::Describe<MadeUp>& d);
};

/// Molecule k is a function of (seed, k): trees of H, C, N, O whose edges are as long as the sum of two radii, give or
/// take a tenth, with those edges as bonds of order 1. Energies (kcal/mol) and forces of made_energy().
MoleculeTable make_molecules(const MadeUp& recipe);

/// A number for each element, pairs that repel each other, and a square root over the neighbours' exponentials of each
/// atom (second-moment form: Finnis and Sinclair, Phil. Mag. A 50, 45 (1984)), cut off smoothly at 4 Å. Sets energy
/// (kcal/mol) and force (kcal/mol/Å) from species and position.
void made_energy(Molecule& molecule);

}  // namespace cambium::graph
