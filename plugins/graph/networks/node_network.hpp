#pragma once
#include <optional>

#include "core/deck/describe.hpp"
#include "core/train/kinds/graph_work.hpp"
#include "core/train/kinds/judges_shares.hpp"
#include "core/train/kinds/network.hpp"
#include "plugins/graph/networks/node_engine.hpp"

namespace cambium::graph {

/// Common keys of all networks on nodes.
struct NodeNetworkParams {
  enum class Decay { first, all };
  enum class Normalization { none, layer };
  enum class Tiles { off, automatic };
  std::vector<std::int64_t> layers;
  double dropout = 0.5;
  bool bias = true, residual = false;
  Tiles tiles = Tiles::off;
  Normalization normalization = Normalization::none;
  std::optional<bool> sums_to_one;  ///< absent: chosen on validation nodes, if features are counts
  Decay decay = Decay::all;
  deck::Choice<sparse::Layout> layout;
  std::vector<std::int64_t> fan_out;
  Precision precision = Precision::float32;
};

/// A network that classifies the nodes of a graph, with hand-written gradients. Loss: cross entropy of the training
/// nodes. Samples are nodes of a data set `graph`; with the loader `full_graph` every step evaluates the full graph
/// over all ranks, with other loaders the nodes of the batch and the neighbours that they need. Host memory, float32 or
/// float64, one thread per call. Derived classes choose the layers.
class NodeNetwork : public train::Network, public train::WorksOnGraph, public train::JudgesShares {
 public:
  NodeNetwork(const NodeNetworkParams& params, const char* name, Context& context);

  void fit_statistics(train::Dataset& training, Context&) override;
  std::vector<train::ParameterInfo> parameters() const override;
  DType dtype() const override;
  void initialise(std::span<const TensorRef> weights, std::uint64_t seed) override;
  std::vector<std::string> report() const override;

  void begin_step(std::uint64_t seed, std::int64_t step) override { engine_->begin_step(seed, step); }
  void begin_evaluation(train::Dataset& data, std::span<const TensorRef> weights) override;
  /// Every rank evaluates its own nodes; sums are exact.
  bool evaluate_all(train::Dataset& data, std::span<const TensorRef> weights,
                    std::span<train::TermSum> metrics) override;
  std::vector<train::TermInfo> terms() const override;
  void gradient(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
                std::span<const double> term_weights, std::span<const TensorRef> gradients,
                std::span<train::TermSum> terms, const train::ReadyCallback& ready) override;
  std::vector<train::TermInfo> metrics() const override;
  void evaluate(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
                std::span<train::TermSum> metrics) override;
  /// "output": probabilities of the classes.
  std::vector<train::FieldInfo> outputs() const override;
  void infer(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
             std::span<const TensorRef> outputs) override;
  std::vector<std::string> export_model(const std::string&, std::span<const TensorRef>, Context&) const override {
    return {};
  }
  /// For `cambium plan`, from the graph of the training.
  train::NetworkTraits traits() override { return {.shares = this, .graph = this}; }
  train::GraphWork graph_work() const override;
  /// Collective: the most probable classes of a graph's nodes, on each rank of its own nodes; `probabilities`, if
  /// given, receives their probabilities of all classes, nodes x classes().
  NodeClasses classes_of(const GraphPtr& graph, std::span<const TensorRef> weights,
                         std::vector<float>* probabilities = nullptr);
  /// Number of classes that it was trained on; a graph to predict may have fewer.
  std::int64_t classes() const { return classes_; }
  /// Index of the split used in training; -1: its file had one, or none.
  std::int64_t split() const { return split_; }
  /// Memory of the graph and of the layers' node data on this rank, without weights.
  std::int64_t bytes() const;
  std::string state() const override;
  void restore(const std::string& state) override;

 protected:
  /// The layers for these numbers of input features and classes.
  virtual EngineShape shape_of(std::int64_t features, std::int64_t classes) const = 0;
  /// Layers of one kind with the widths of the deck.
  std::vector<LayerShape> layers_of(LayerShape::Kind kind, std::int64_t features, std::int64_t classes) const;

 private:
  void build(std::int64_t features, std::int64_t classes);
  std::unique_ptr<NodeEngine> make_engine_of(const EngineShape& shape, const Comm& comm) const;
  EngineShape whole_shape(std::int64_t features, std::int64_t classes) const;
  double share_when_divided(const GraphPtr& graph, bool divided, Context& context);
  bool divides_features(const GraphPtr& graph, Context& context);

  NodeNetworkParams params_;
  sparse::LayoutKeys layout_;
  std::string name_;
  const Comm& comm_;
  std::int64_t features_ = 0, classes_ = 0, split_ = -1;
  std::vector<LayerShape> layers_;
  GraphPtr graph_;  ///< graph of fit_statistics()
  Weighing weighing_ = Weighing::symmetric;
  bool sums_to_one_ = true;
  std::unique_ptr<NodeEngine> engine_;
};

/// Declares the common keys; P is derived from NodeNetworkParams and has their defaults.
template <class P>
void describe_node_network(deck::Describe<P>& d) {
  using Base = NodeNetworkParams;
  const P p;
  d("layers", &P::layers, "widths of the hidden layers").example("[16]");
  d("dropout", &P::dropout, "dropout probability of the inputs of every layer in training")
      .range(0.0, 0.95)
      .def(p.dropout);
  d("bias", &P::bias, "bias added to each output of a layer").def(p.bias);
  d("residual", &P::residual,
    "skip connections: every layer adds a linear map of its input, x R, to its output; helps where neighbours are "
    "often "
    "of another class, and in deep networks")
      .def(p.residual);
  d("normalization", &P::normalization,
    "normalisation of the outputs of hidden layers before the activation; layer: to mean 0 and standard deviation 1 in "
    "each node")
      .options({{"none", Base::Normalization::none}, {"layer", Base::Normalization::layer}})
      .def(p.normalization);
  d("sums_to_one", &P::sums_to_one,
    "row normalisation: features of a node are divided by their sum, usual for word counts; default: chosen on the "
    "validation nodes if all are non-negative integers, else false");
  d("decay", &P::decay, "layers to which the optimizer's weight_decay applies; the published gcn decays the first")
      .options({{"first", Base::Decay::first}, {"all", Base::Decay::all}})
      .def(p.decay);
  d("layout", &P::layout, "distribution of a full graph over ranks").def("needed_rows");
  d("fan_out", &P::fan_out,
    "neighbours that each layer draws, from the first layer on, when a batch holds single nodes; all where left out")
      .def({})
      .example("[10, 5]");
  d("precision", &P::precision, "floating-point precision of weights and products")
      .options({{"float64", Precision::float64}, {"float32", Precision::float32}})
      .def(p.precision);
}

/// Declares the key of networks whose layers are products with the graph.
template <class P>
void describe_tiles(deck::Describe<P>& d) {
  d("tiles", &P::tiles,
    "products of a full graph by dense tiles of its matrix: auto, where they are faster when both are timed at the "
    "start (results then agree with those of another run to rounding), or off")
      .options({{"off", NodeNetworkParams::Tiles::off}, {"auto", NodeNetworkParams::Tiles::automatic}})
      .def(NodeNetworkParams::Tiles::off);
}

/// Problem of the combination of common keys; "" if there is none.
std::string problem_of(const NodeNetworkParams& params);

}  // namespace cambium::graph
