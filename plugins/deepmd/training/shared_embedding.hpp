#pragma once
#include <vector>

#include "plugins/deepmd/training/layer_weights.hpp"

namespace cambium::deepmd {

/// Embedding network shared by all pairs of species, in training: for given species their embeddings are constants, so
/// it becomes a network with scalar input for each pair (by_species()), in which only the bias of the first layer
/// differs. Propagates the gradients of these back to the network's weights, to the species' embeddings and to the
/// weights of their network.
template <class T>
class SharedEmbedding {
 public:
  /// `shape` has a type embedding and must outlive it.
  explicit SharedEmbedding(const DeepPotentialModel& shape);

  void take(const NetworkWeights<T>& types, const NetworkWeights<T>& net);
  int width() const { return shape_.type_embedding.out(); }
  const std::vector<double>& of(int type) const { return values_.back()[type]; }  ///< width() values
  /// One per pair of species, indexed by DeepPotentialModel::embedding_index() of the model by species.
  const std::vector<NetworkWeights<T>>& networks() const { return networks_; }

  /// Network of a pair whose gradient is added to `net` or, for constants, stored in this object.
  NetworkWeights<T> with_gradient(int pair, const NetworkWeights<T>& net);
  /// Adds the adjoint of a species' embedding, width() values.
  void add_adjoint(int type, const T* bar);
  /// Adds the contribution of the gradients of all pairs' networks to the first layer of `net`.
  void backward(const NetworkWeights<T>& net);
  /// Adds the gradient of the embedding's own weights, after backward().
  void backward_types(const NetworkWeights<T>& types) const;

 private:
  using Rows = std::vector<std::vector<double>>;  ///< by species
  int pairs() const { return shape_.type_one_side ? shape_.ntypes() : shape_.ntypes() * shape_.ntypes(); }
  /// Calls f(first row of the species' embedding in the first matrix, species) for a pair.
  template <class F>
  void each_species(int pair, F&& f) const;

  const DeepPotentialModel& shape_;
  std::vector<Rows> values_;  ///< inputs of every layer of the species' embedding, and its output
  std::vector<Rows> active_;  ///< values of the activation function of every layer
  std::vector<NetworkWeights<T>> networks_;
  std::vector<std::vector<T>> bias_bar_;  ///< of every pair
  Rows bar_;                              ///< adjoint of the species' embedding
};

}  // namespace cambium::deepmd
