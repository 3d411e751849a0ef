#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "plugins/graph/graphs/matrices.hpp"
#include "plugins/graph/graphs/samples.hpp"
#include "plugins/graph/layers/node_pass.hpp"

namespace cambium::graph {

/// How a network computes, in one type of number.
struct EngineShape {
  NetworkShape network;
  Weighing weighing = Weighing::symmetric;
  bool sums_to_one = false;           ///< features of a node are divided by their sum
  sparse::LayoutKeys layout;          ///< of a whole graph among ranks
  bool tiles = false;                 ///< of the matrix of a whole graph, where they are faster
  std::vector<std::int64_t> fan_out;  ///< neighbours that each layer draws in batches of nodes; empty: all
  std::int64_t classes() const { return network.layers.back().width(); }
};

/// Computes gradients and class probabilities of a network on nodes; holds the graphs that it was asked about in the
/// form in which layers read them.
class NodeEngine {
 public:
  virtual ~NodeEngine() = default;
  virtual void begin_step(std::uint64_t seed, std::int64_t step) = 0;
  /// As Network::gradient(). Of samples whose storage is a WholeGraph the first call of a step is collective: it
  /// computes the whole graph, every rank its rows. Of single nodes it computes what they need, on this rank alone.
  virtual void gradient(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights, double factor,
                        std::span<const TensorRef> gradients, train::TermSum& loss) = 0;
  /// Collective: outputs of the whole graph, every rank those of its own nodes, which are returned. They serve scores()
  /// until the next step. Each node is one rank's.
  virtual sparse::Range begin_evaluation(const GraphPtr& graph, std::span<const TensorRef> weights) = 0;
  /// Logarithms of the class probabilities of a node. Not collective: of a node that is none of those that
  /// begin_evaluation() has left here with this graph and these weights, this rank computes the whole graph alone.
  virtual std::vector<double> scores(const GraphPtr& graph, std::int32_t node, std::span<const TensorRef> weights) = 0;
  /// Bytes received from other ranks so far.
  virtual sparse::Words words() const = 0;
  /// Forms of the products with graphs, for the summary; empty without tiles.
  virtual std::vector<std::string> tiles() const = 0;
  /// Memory of graphs as layers read them, and of what layers keep.
  virtual std::int64_t bytes() const = 0;
};

/// The communicator outlives it.
template <class T>
std::unique_ptr<NodeEngine> make_engine(const EngineShape& shape, const Comm& comm);

}  // namespace cambium::graph
