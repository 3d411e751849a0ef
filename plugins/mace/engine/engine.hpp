#pragma once
#include <memory>
#include <vector>

#include "core/pair/forces.hpp"
#include "core/parallel/ghost_exchange.hpp"
#include "core/particles/neighbors.hpp"
#include "core/particles/particles.hpp"
#include "plugins/mace/model/mace_model.hpp"

namespace cambium::mace {

/// Precision of features and weights. Distances, harmonics, readouts, energies and sums of forces are float64 in both.
enum class Precision { float64, float32 };

/// Energies, forces and virials of a model, by a forward pass over its interactions and a backward pass over their
/// gradients. Features of neighbours are exchanged between ranks once per interaction, so that ghosts are needed to one
/// cut-off only, regardless of the number of interactions.
class Engine {
 public:
  virtual ~Engine() = default;
  virtual const MaceModel& model() const = 0;

  /// Adds to `out` like Potential::compute; including forces on ghosts. `species` maps deck types to species of the
  /// model. Collective.
  virtual void compute(const Particles& particles, const NeighborList& list, GhostExchange& ghosts,
                       const std::vector<int>& species, const ForceRequest& request, ForceOutput& out) = 0;
  /// Bytes per atom, owned or ghost, of the features stored between the two passes.
  virtual double bytes_per_atom() const = 0;
};

std::unique_ptr<Engine> make_engine(MaceModel model, Precision precision);

}  // namespace cambium::mace
