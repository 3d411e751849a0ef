#pragma once
#include <vector>

#include "core/pair/atom_edges.hpp"
#include "core/pair/edge_forces.hpp"
#include "core/pair/node_features.hpp"
#include "plugins/graph/messages/edge_filters.hpp"
#include "plugins/graph/messages/message_model.hpp"
#include "plugins/graph/messages/mixing.hpp"

namespace cambium::graph {

/// Energies, forces and virials of a model, by a forward pass over its layers and a backward pass over their
/// gradients, in host memory. What senders say crosses ranks once a layer, so that ghosts reach one cut-off, whatever
/// the number of layers.
class MessageEngine {
 public:
  explicit MessageEngine(MessageModel model) : model_(std::move(model)) {}
  const MessageModel& model() const { return model_; }

  /// Adds to `out` as Potential::compute does; forces of ghosts, too. `species` is the model's of each deck type.
  /// Collective.
  void compute(const Particles& particles, const NeighborList& list, GhostExchange& ghosts,
               const std::vector<int>& species, const ForceRequest& request, ForceOutput& out);
  /// Bytes that an atom takes between the two passes, owned or ghost.
  double bytes_per_atom() const;

 private:
  struct Layer {
    std::vector<double> hidden;          ///< [owned][width]: of the sender, before its activation
    NodeFeatures<double> sent;           ///< owned and ghosts: what the sender says, then its vectors
    std::vector<double> scalar, vector;  ///< [owned][width], [owned][3][width]: with the messages, before mixing
  };
  bool sends_vectors(std::size_t k) const { return model_.vectors && k > 0; }
  void start(const Particles& particles, const std::vector<int>& species);
  void send(std::size_t k, const Particles& particles, GhostExchange& ghosts);
  void receive(std::size_t k, int atoms);
  void read_out(int atoms, EdgeForces& results);
  void messages_backward(std::size_t k, const Particles& particles, EdgeForces& results);
  /// Derivatives by what the neighbour sent and by the vector from it, of one edge.
  void edge_backward(std::size_t k, int atom, int edge, const double* filter, const double* slope, double gradient[3]);
  void sender_backward(std::size_t k, const Particles& particles, GhostExchange& ghosts);

  MessageModel model_;
  AtomEdges edges_;
  EdgeFilters filters_;
  Mixing mixing_;
  std::vector<Layer> layers_;
  std::vector<int> species_;                               ///< of owned atoms and ghosts
  std::vector<double> scalar_, vector_;                    ///< features of owned atoms
  std::vector<double> scalar_gradient_, vector_gradient_;  ///< of the energy by them, in units of the model's scale
  NodeFeatures<double> sent_gradient_;
  std::vector<double> said_, active_, work_;
};

}  // namespace cambium::graph
