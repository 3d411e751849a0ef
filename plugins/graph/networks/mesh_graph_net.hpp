#pragma once
#include "core/deck/describe.hpp"
#include "core/train/kinds/factor_layers.hpp"
#include "core/train/networks/torch/torch_network.hpp"
#include "plugins/graph/networks/graph_messages.hpp"
#include "plugins/graph/trajectories/steps_on_nodes.hpp"

namespace cambium::graph {

/// One time step of a simulation on any graph or mesh (MeshGraphNets): encodes nodes and edges, repeats message passing
/// along the edges, and decodes each node's increment. Reads samples of `mesh_trajectories`. Edge features are relative
/// positions and lengths, so the network is translation invariant; with `places`, node positions are features, too.
class MeshGraphNet : public train::TorchNetwork, public StepsOnNodes, public train::HasFactors {
 public:
  struct Params {
    std::int64_t layers = 6, width = 32;
    bool places = false;
    Precision precision = Precision::float32;
    std::vector<std::int64_t> ranks;  ///< factor rank of each layer, 0: not factorised; empty: none is
    static void describe(deck::Describe<Params>& d);
  };
  MeshGraphNet(const Params& params, Context&) : TorchNetwork(params.precision), params_(params) {}

  void fit_statistics(train::Dataset& training, Context& context) override;
  /// "increment": root mean square error in units of the standard deviation of the increments.
  std::vector<train::TermInfo> terms() const override {
    return {{"increment", "", train::TermInfo::Report::root_mean}};
  }
  /// "next" (nodes, fields): the values one step later.
  std::vector<train::FieldInfo> outputs() const override { return {{"next", "", {-1, fields_}, DType::f64}}; }
  std::vector<Citation> citations() const override;
  double interval() const override { return interval_; }
  std::int64_t fields_on_nodes() const override { return fields_; }
  std::int64_t reach() const override { return params_.layers; }
  /// Both layers of the encoders of nodes and edges, of the edge and node updates of each exchange, and of the decoder.
  train::NetworkTraits traits() override { return {.factors = this, .modules = this}; }
  std::vector<train::FactorLayer> factor_layers() const override { return module_layers(); }
  std::vector<WidthKey> width_keys() const override { return {{"width"}}; }
  std::string state() const override;
  void restore(const std::string& state) override;

 private:
  std::shared_ptr<torch::nn::Module> build() override;
  std::vector<std::string> segments() const override;
  bool can_recompute() const override { return true; }
  std::vector<Term> loss(const train::TorchBatch& batch) override;
  std::vector<torch::Tensor> predict(const train::TorchBatch& batch) override;
  void initial(const train::ParameterInfo& info, std::int64_t index, const TensorRef& weights,
               std::uint64_t seed) const override;

  /// Graphs of a batch, concatenated.
  struct Graphs {
    torch::Tensor value, next;  ///< (nodes, fields) float64; next may be undefined
    torch::Tensor node, edge;   ///< inputs of the encoders
    torch::Tensor share;        ///< (nodes): 1 / (nodes of its graph)
    DirectedEdges edges;
  };
  Graphs graphs(const train::TorchBatch& batch) const;
  torch::Tensor increment(const Graphs& graphs);

  Params params_;
  std::int64_t fields_ = 1;
  std::vector<double> mean_, deviation_, increment_;  ///< of values; root mean square of increments
  double length_ = 1.0, weight_ = 1.0;                ///< means over edges
  std::vector<double> middle_;                        ///< of the positions
  double extent_ = 1.0;                               ///< root mean square distance from it
  double interval_ = 0.0;
  std::int64_t nodes_ = 1, edges_ = 1;  ///< of a graph, directed edges, on average

  TwoLayers node_encoder_{nullptr}, edge_encoder_{nullptr}, decoder_{nullptr};
  std::vector<EdgeExchange> exchanges_;
};

}  // namespace cambium::graph
