#pragma once
#include <span>

#include "core/parallel/comm.hpp"
#include "core/particles/particles.hpp"
#include "plugins/md/domain/cut_tree.hpp"

namespace cambium::md {

struct BalancedCuts {
  CutTree cuts;
  double largest = 0.0;  ///< largest work of a rank
  double mean = 0.0;
};

/// Collective: planes that give every rank nearly the same part of `work`, one integer value per owned row (so that
/// sums are exact: the planes depend only on positions and work, not on which ranks own the atoms). A box is cut along
/// the longest extent of its atoms; planes lie in the middle between two atoms. Directions narrower than 2 `range` (Å)
/// are not divided, as in BrickGrid; the same InputError if no direction can be divided. Positions may be outside the
/// cell. Communication: 7 log2(ranks) reductions of at most some 4,096 values, or twice the number of ranks.
BalancedCuts balanced_cuts(const Particles& particles, std::span<const double> work, double range, const Comm& comm);

}  // namespace cambium::md
