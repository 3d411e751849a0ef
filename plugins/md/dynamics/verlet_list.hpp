#pragma once
#include <cstdint>

#include "core/parallel/context.hpp"
#include "core/particles/neighbors.hpp"
#include "core/particles/particles.hpp"
#include "plugins/md/domain/domain.hpp"

namespace cambium::md {

/// A neighbour list with a skin, valid as long as no atom has moved more than half of it since the list was built: L.
/// Verlet, Phys. Rev. 159, 98 (1967). Callers that move atoms report the displacement. Lengths in Å.
class VerletList {
 public:
  VerletList(Particles& particles, Domain& domain, double cutoff, double skin, const Context& context)
      : particles_(particles), domain_(domain), context_(context), cutoff_(cutoff), skin_(skin) {}

  /// Migration, sort, ghosts and list, unconditionally.
  void rebuild();
  /// Updates ghosts and list for the positions: a rebuild if an atom of any rank has moved half the skin since the last
  /// one, otherwise one exchange of positions. Returns false, without an update, if this rank has a position that is
  /// not finite; throws NumericalError if another rank has one.
  [[nodiscard]] bool update(std::int64_t step);

  /// Positions of the owned atoms at the last rebuild, from which displacements are measured.
  const View<double* [3]>& built_at() const { return built_at_; }
  /// Reports the squared largest displacement of this rank's atoms since then; above 1e299 if one is not finite.
  void moved(double largest_squared) {
    largest_move2_ = largest_squared;
  }
  /// Reports that the cell and all positions, including those of the last rebuild, were scaled by `factor`.
  void stretched(double factor) { stretch_ *= factor, largest_move2_ *= factor * factor; }

  const NeighborList& list() const { return list_; }
  std::int64_t rebuilds() const { return rebuilds_; }
  /// Mean number of entries over all ranks. Collective.
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
