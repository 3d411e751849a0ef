#pragma once
#include <vector>

#include "core/pair/atom_edges.hpp"
#include "core/pair/edge_forces.hpp"
#include "core/pair/node_features.hpp"
#include "plugins/graph/messages/edge_filters.hpp"
#include "plugins/graph/messages/message_model.hpp"
#include "plugins/graph/messages/mixing.hpp"

namespace cambium::graph {

/// Energies, forces and virials of a model, by a forward pass over its layers and a backward pass for their gradients,
/// in host memory. Messages of senders are exchanged between ranks once per layer, so the ghost layer is one cut-off
/// wide for any number of layers.
class MessageEngine {
 public:
  explicit MessageEngine(MessageModel model) : model_(std::move(model)) {}
  const MessageModel& model() const { return model_; }

  /// Adds to `out` as Potential::compute does, including forces on ghosts. `species`: species of the model for each
  /// deck type. Collective.
  void compute(const Particles& particles, const NeighborList& list, GhostExchange& ghosts,
               const std::vector<int>& species, const ForceRequest& request, ForceOutput& out);
  /// Bytes stored per atom, owned or ghost, between the two passes.
  double bytes_per_atom() const;

 private:
  struct Layer {
    std::vector<double> hidden;          ///< [owned][width]: of the sender, before its activation
    NodeFeatures<double> sent;           ///< owned and ghosts: scalar messages, then vector messages
    std::vector<double> scalar, vector;  ///< [owned][width], [owned][3][width]: with the messages, before mixing
  };
  bool sends_vectors(std::size_t k) const { return model_.vectors && k > 0; }
  void start(const Particles& particles, const std::vector<int>& species);
  void send(std::size_t k, const Particles& particles, GhostExchange& ghosts);
  void receive(std::size_t k, int atoms);
  void read_out(int atoms, EdgeForces& results);
  void messages_backward(std::size_t k, const Particles& particles, EdgeForces& results);
  /// Derivatives by the message of the neighbour and by the vector from it, of one edge.
  void edge_backward(std::size_t k, int atom, int edge, const double* filter, const double* slope, double gradient[3]);
  void sender_backward(std::size_t k, const Particles& particles, GhostExchange& ghosts);

  MessageModel model_;
  AtomEdges edges_;
  EdgeFilters filters_;
  Mixing mixing_;
  std::vector<Layer> layers_;
  std::vector<int> species_;                               ///< of owned atoms and ghosts
  std::vector<double> scalar_, vector_;                    ///< features of owned atoms
  std::vector<double> scalar_gradient_, vector_gradient_;  ///< of the energy, in units of the model's scale
  NodeFeatures<double> sent_gradient_;
  std::vector<double> said_, active_, work_;
};

}  // namespace cambium::graph
