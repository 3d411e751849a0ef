#pragma once
#include <string>

#include "plugins/deepmd/model/graph_def.hpp"

namespace cambium::deepmd::detail {

/// Readers of parts of a frozen graph into the tree of a model file. All throw InputError that names the file.

[[noreturn]] void refuse(const GraphDef& graph, const std::string& what);

/// The operation that takes a constant, through the copies that freezing makes of a variable; null if none does.
const GraphNode* user_of(const GraphDef& graph, const std::string& name);

/// Networks of a graph, whose constants are named by scope, layer and types. `activation` is the one that the training
/// input names; where it is empty, it is that of the operation after a layer.
class FrozenNetworks {
 public:
  using Json = nlohmann::ordered_json;
  FrozenNetworks(const GraphDef& graph, ModelTree& tree) : graph_(graph), tree_(tree) {}

  /// A layer whose constants are prefix + "matrix" + suffix, and so on; `last`: without activation function.
  Json layer(const std::string& prefix, const std::string& suffix, const std::string& activation, bool last);
  /// Layers "matrix_1_0", "matrix_2_0", ... in a scope, for the suffix "_0"; null if there is none. A layer adds its
  /// input, once or twice, where the sizes allow it.
  Json embedding(const std::string& scope, const std::string& suffix, const std::string& activation);
  /// Layers "layer_0_type_0", ..., "final_layer_type_0", for the suffix "_type_0". Layers after the first add an input
  /// of their size.
  Json fitting(const std::string& suffix, const std::string& activation);
  /// A matrix and a bias that consist of the columns of several; activation none.
  Json side_by_side(const std::vector<std::string>& prefixes);
  /// A constant as a vector.
  Json vector(const std::string& name) { return tree_.add(flat(name)); }

  /// Columns of the last matrix of a network, and rows of its first.
  std::int64_t outputs(const Json& network) const { return shape(network["layers"].back())[1]; }
  std::int64_t inputs(const Json& network) const { return shape(network["layers"].front())[0]; }
  const std::string& precision() const { return precision_; }

 private:
  /// A bias or time step, stored as a vector or as a matrix with one row.
  Array flat(const std::string& name) const;
  const Array& matrix(const std::string& name);
  const std::vector<std::int64_t>& shape(const Json& layer) const {
    return tree_.arrays[layer["@variables"]["w"]["@array"].get<std::size_t>()].shape;
  }

  const GraphDef& graph_;
  ModelTree& tree_;
  std::string precision_ = "float64";
};

nlohmann::ordered_json collection_of(std::vector<nlohmann::ordered_json> networks, int ndim, std::size_t types);

/// The descriptor, a hybrid included, without the columns of the energy network that follow it: axis_neuron is that of
/// the training input, or missing. `input` is the section `model` of that input.
nlohmann::ordered_json frozen_descriptor(const GraphDef& graph, const nlohmann::ordered_json& input,
                                         FrozenNetworks& networks, ModelTree& tree);

/// The descriptors of a hybrid, or the only one.
template <class F>
void each_frozen(nlohmann::ordered_json& descriptor, F&& f) {
  if (descriptor["type"] == "hybrid")
    for (auto& part : descriptor["list"]) f(part);
  else
    f(descriptor);
}

}  // namespace cambium::deepmd::detail
