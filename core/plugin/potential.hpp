#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/citation.hpp"
#include "core/pair/forces.hpp"
#include "core/parallel/context.hpp"
#include "core/parallel/ghost_exchange.hpp"
#include "core/particles/neighbors.hpp"
#include "core/particles/particles.hpp"

namespace cambium {

class Committee;

/// An interatomic potential: neighbour list in; energies, forces, virial out. Units metal: eV, Å.
class Potential {
 public:
  using Kind = Potential;
  static constexpr std::string_view kind = "potential";
  virtual ~Potential() = default;

  /// Called once before the first compute: binds the deck's species to the potential's own types; throws InputError
  /// naming the unsupported species and the supported ones.
  virtual void bind(std::span<const Species> species) = 0;
  /// Largest interaction range (Å).
  virtual double cutoff() const = 0;
  /// True when compute() adds to the force rows of ghosts.
  virtual bool writes_ghost_forces() const { return false; }
  /// True if the formula sums over all images of a cell that is periodic along a, b and c, or needs its mean density:
  /// then molecules, wires or slabs are meaningless, and the caller refuses to evaluate them.
  virtual bool needs_periodic_cell() const { return false; }
  /// Adds energies and forces of the current positions. The list may be longer than the cut-off (skin).
  virtual void compute(const Particles&, const NeighborList&, GhostExchange&, const ForceRequest&, ForceOutput&,
                       Context&) = 0;
  /// One line for the banner: parameters in use, error of the cut-off, table error.
  virtual std::string summary() const { return {}; }
  virtual std::vector<Citation> citations() const { return {}; }
  /// The committee whose disagreement is measured: the potential itself, or one among its terms; null without one.
  virtual Committee* committee() { return nullptr; }
};

/// Throws InputError if a structure is not periodic along a, b and c and the potential requires it.
void refuse_open_boundaries(const Potential& potential, bool periodic);

}  // namespace cambium
