#pragma once
#include <span>

#include "core/parallel/comm.hpp"
#include "core/particles/particles.hpp"
#include "plugins/md/domain/cut_tree.hpp"

namespace cambium {

struct BalancedCuts {
  CutTree cuts;
  double largest = 0.0;  ///< work of the rank that gets most of it
  double mean = 0.0;
};

/// Collective: planes that give every rank nearly the same part of `work`, one whole number per owned row (which makes
/// sums exact: the planes follow from positions and work alone, wherever the atoms are now). A box is cut where it is
/// longest around its atoms; planes lie in the middle between two atoms. Directions narrower than 2 `range` (Å) stay
/// undivided, as those of BrickGrid; InputError, with its words, where all are. Positions may lie outside of the cell.
/// Messages of 7 log2(ranks) reductions of at most some 4,096 numbers, or twice the number of ranks.
BalancedCuts balanced_cuts(const Particles& particles, std::span<const double> work, double range, const Comm& comm);

}  // namespace cambium
