#pragma once
#include <cstdint>

#include "core/parallel/context.hpp"
#include "core/particles/neighbors.hpp"
#include "core/particles/particles.hpp"
#include "plugins/md/domain/domain.hpp"

namespace cambium::md {

/// A neighbour list with a skin, which stays good while no atom has come further than half of it since the list was
/// built: L. Verlet, Phys. Rev. 159, 98 (1967). Whoever moves atoms says how far they have come. Lengths in Å.
class VerletList {
 public:
  VerletList(Particles& particles, Domain& domain, double cutoff, double skin, const Context& context)
      : particles_(particles), domain_(domain), context_(context), cutoff_(cutoff), skin_(skin) {}

  /// Migration, sort, ghosts and list, unconditionally.
  void rebuild();
  /// Makes ghosts and list fit the positions: a rebuild when an atom has moved half the skin since the last one (any
  /// rank), else one exchange of positions. False where this rank has a position that is not finite, and then nothing
  /// was done; throws NumericalError where another rank has one.
  [[nodiscard]] bool update(std::int64_t step);

  /// Positions of the owned atoms at the last rebuild, from which a move is measured.
  const View<double* [3]>& built_at() const { return built_at_; }
  /// Squared length of the longest way of an atom of this rank since then; above 1e299 where one is not finite.
  void moved(double largest_squared) {
    largest_move2_ = largest_squared;
  }
  /// The cell and all positions, those of the last rebuild as well, have become `factor` times as long.
  void stretched(double factor) { stretch_ *= factor, largest_move2_ *= factor * factor; }

  const NeighborList& list() const { return list_; }
  std::int64_t rebuilds() const { return rebuilds_; }
  /// Entries, of all ranks. Collective.
  double pairs_per_atom() const;

 private:
  void remember_positions();

  Particles& particles_;
  Domain& domain_;
  const Context& context_;
  double cutoff_, skin_;
  NeighborList list_;
  View<double* [3]> built_at_;
  double largest_move2_ = 0.0;
  double stretch_ = 1.0;  ///< product of cell scalings since the last rebuild
  std::int64_t rebuilds_ = 0;
};

}  // namespace cambium::md
