#pragma once
#include "core/pair/atom_edges.hpp"
#include "core/pair/edge_forces.hpp"
#include "core/pair/node_features.hpp"
#include "plugins/mace/engine/contraction.hpp"
#include "plugins/mace/engine/convolution.hpp"
#include "plugins/mace/engine/engine.hpp"
#include "plugins/mace/engine/linear.hpp"
#include "plugins/mace/engine/radial.hpp"

namespace cambium::mace {

/// Both passes of a model, with features and weights in type T (double or float). Linear maps are applied to blocks of
/// atoms, everything else to one atom or edge.
template <class T>
class Passes final : public Engine {
 public:
  explicit Passes(MaceModel model);
  const MaceModel& model() const override { return model_; }
  void compute(const Particles& particles, const NeighborList& list, GhostExchange& ghosts,
               const std::vector<int>& species, const ForceRequest& request, ForceOutput& out) override;
  double bytes_per_atom() const override;

 private:
  struct Layer {
    Layer(const MaceModel& model, const Interaction& interaction);
    Linear<T> up, linear, product;
    SpeciesLinear<T> skip;
    Convolution<T> convolution;
    RadialWeights<T> radial;
    SymmetricContraction<T> contraction;
    NodeFeatures<T> sent;      ///< what neighbours receive: features after `up`
    NodeFeatures<T> message;   ///< of each atom
    NodeFeatures<T> features;  ///< after the interaction
    NodeFeatures<T> gradient;  ///< of the energy with respect to them
  };
  struct Block {
    int first, count;
  };
  void set_species(const Particles& particles, const std::vector<int>& species);
  void set_harmonics();
  /// Features of the atoms before interaction `k`.
  const T* before(std::size_t k, int i) const;
  /// Features sent by neighbour `j` in interaction `k`.
  const T* sent(std::size_t k, int j) const;
  void forward(std::size_t k, const Particles& particles, GhostExchange& ghosts);
  void sum_over_neighbours(std::size_t k, int i, T* sum);
  void update(std::size_t k, Block block);
  void read_energy(std::size_t k, int i);
  void backward(std::size_t k, const Particles& particles, GhostExchange& ghosts, EdgeForces& results);
  /// Gradient with respect to the sums over neighbours from that with respect to the features after interaction `k`;
  /// the contribution of the skip connection is added to the gradient of the features before it.
  void back_to_sums(std::size_t k, Block block);
  /// Forces of the edges of atom `i`, and gradients of the features sent by its neighbours.
  void edge_forces(std::size_t k, int i, const T* sum_gradient, EdgeForces& results);
  void add_energies(int atoms, EdgeForces& results);

  MaceModel model_;
  AtomEdges edges_;
  std::vector<Layer> layers_;
  NodeFeatures<T> sent_gradient_;
  std::vector<int> species_;           ///< of owned atoms and ghosts
  std::vector<std::vector<T>> first_;  ///< of each species: features sent in the first interaction
  NodeFeatures<T> embedding_;          ///< of each atom, before the first interaction
  std::vector<double> energy_;         ///< of owned atoms, in units of the model's scale
  std::vector<T> harmonics_;           ///< of each edge
  std::vector<T> slopes_;              ///< their derivatives, three each
  std::vector<T> harmonics_gradient_;
  NodeFeatures<T> sums_, products_, other_;  ///< of the atoms of a block
  std::vector<double> read_, read_gradient_;
};

extern template class Passes<double>;
extern template class Passes<float>;

}  // namespace cambium::mace
