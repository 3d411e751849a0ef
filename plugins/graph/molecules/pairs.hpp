#pragma once
#include <vector>

#include "plugins/graph/molecules/sample.hpp"

namespace cambium::graph {

/// Pairs of atoms closer than a cut-off, each pair and each of its periodic images once.
struct AtomPairs {
  std::vector<std::int64_t> first, second;  ///< an atom may pair with images of itself
  std::vector<double> shift;                ///< (pairs, 3), Å: second + shift - first is the vector between them
};

/// Adds the pairs of a molecule or a periodic cell; `atom` is the index of its first atom. Atoms may be outside of
/// their cell.
void add_pairs(const MoleculeView& molecule, double cutoff, std::int64_t atom, AtomPairs& out);

/// Smallest distance of opposite faces of a cell (rows a, b, c) over its periodic directions, Å: 0 for a flat cell,
/// infinity if no direction is periodic.
double smallest_height(const std::array<double, 9>& cell);

}  // namespace cambium::graph
