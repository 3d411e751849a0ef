#pragma once
#include <vector>

#include "core/pair/forces.hpp"
#include "plugins/mace/engine/atoms.hpp"
#include "plugins/mace/engine/radial.hpp"
#include "plugins/mace/model/mace_model.hpp"

namespace cambium::mace {

/// Energies, forces and virials of a model, by a forward pass over its interactions and a backward pass over their
/// gradients. Features of neighbours cross ranks once an interaction, so that ghosts reach one cut-off, whatever the
/// number of interactions.
class Engine {
 public:
  explicit Engine(MaceModel model) : model_(std::move(model)) {}
  const MaceModel& model() const { return model_; }

  /// Adds to `out` as Potential::compute does; forces of ghosts, too. `species` is the model's of each deck type.
  /// Collective.
  void compute(const Particles& particles, const NeighborList& list, GhostExchange& ghosts,
               const std::vector<int>& species, const ForceRequest& request, ForceOutput& out);
  /// Bytes that an atom takes between the two passes, owned and ghost.
  double bytes_per_atom() const;

 private:
  struct Layer {
    NodeRows sent;      ///< what neighbours receive: features after `up`
    NodeRows message;   ///< of each atom
    NodeRows features;  ///< after the interaction
    NodeRows gradient;  ///< of the energy with respect to them
  };
  void set_species(const Particles& particles, const std::vector<int>& species);
  /// Features of node `i` before interaction `k`.
  const double* before(std::size_t k, int i) const;
  void forward(std::size_t k, const Particles& particles, GhostExchange& ghosts);
  void backward(std::size_t k, const Particles& particles, GhostExchange& ghosts, const ForceRequest& request,
                ForceOutput& out);
  /// Gradient with respect to the sum over neighbours from that with respect to the features after interaction `k`;
  /// the skip connection's part is added to the features before it.
  void back_to_sum(std::size_t k, int i, std::vector<double>& sum_gradient);
  /// Forces of the edges of atom `i`, and gradients of what its neighbours sent.
  void edge_forces(std::size_t k, int i, const std::vector<double>& sum_gradient, const ForceRequest& request,
                   ForceOutput& out);
  void add_force(int i, int j, const double gradient[3], const double vector[3], const ForceRequest& request,
                 ForceOutput& out);
  void add_energies(const Particles& particles, const ForceRequest& request, ForceOutput& out);

  MaceModel model_;
  Edges edges_;
  std::vector<Layer> layers_;
  NodeRows sent_gradient_;
  std::vector<int> species_;                ///< of owned atoms and ghosts
  std::vector<std::vector<double>> first_;  ///< of each species: what it sends in the first interaction
  std::vector<double> energy_;              ///< eV, of owned atoms
  RadialWeights radial_;
  std::vector<double> harmonics_, harmonics_gradient_, weights_gradient_, work_, other_;
  std::vector<std::array<double, 3>> slopes_;
  HostView<double* [3]> f_;
  HostView<double* [9]> atom_virial_;
};

}  // namespace cambium::mace
