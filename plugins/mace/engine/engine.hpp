#pragma once
#include <memory>
#include <vector>

#include "core/pair/forces.hpp"
#include "core/parallel/ghost_exchange.hpp"
#include "core/particles/neighbors.hpp"
#include "core/particles/particles.hpp"
#include "plugins/mace/model/mace_model.hpp"

namespace cambium::mace {

/// Numbers of features and weights. Distances, harmonics, readouts, energies and sums of forces are float64 in both.
enum class Precision { float64, float32 };

/// Energies, forces and virials of a model, by a forward pass over its interactions and a backward pass over their
/// gradients. Features of neighbours cross ranks once an interaction, so that ghosts reach one cut-off, whatever the
/// number of interactions.
class Engine {
 public:
  virtual ~Engine() = default;
  virtual const MaceModel& model() const = 0;

  /// Adds to `out` as Potential::compute does; forces of ghosts, too. `species` is the model's of each deck type.
  /// Collective.
  virtual void compute(const Particles& particles, const NeighborList& list, GhostExchange& ghosts,
                       const std::vector<int>& species, const ForceRequest& request, ForceOutput& out) = 0;
  /// Bytes that the features of an atom take between the two passes, owned and ghost.
  virtual double bytes_per_atom() const = 0;
};

std::unique_ptr<Engine> make_engine(MaceModel model, Precision precision);

}  // namespace cambium::mace
