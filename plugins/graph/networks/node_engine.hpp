#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "plugins/graph/graphs/matrices.hpp"
#include "plugins/graph/graphs/samples.hpp"
#include "plugins/graph/layers/node_pass.hpp"

namespace cambium::graph {

/// Parameters of a network's engine for one floating-point type.
struct EngineShape {
  NetworkShape network;
  Weighing weighing = Weighing::symmetric;
  bool sums_to_one = false;           ///< divides the features of a node by their sum
  sparse::LayoutKeys layout;          ///< of a full graph over ranks
  bool tiles = false;                 ///< of the matrix of a full graph, if they are faster
  std::vector<std::int64_t> fan_out;  ///< neighbours sampled by each layer in batches of nodes; empty: all
  std::int64_t classes() const { return network.layers.back().width(); }
};

/// Computes gradients and class probabilities of a network on nodes; caches the graphs in the form that layers use.
class NodeEngine {
 public:
  virtual ~NodeEngine() = default;
  virtual void begin_step(std::uint64_t seed, std::int64_t step) = 0;
  /// As Network::gradient(). If the storage of the samples is a WholeGraph, the first call of a step is collective: it
  /// evaluates the full graph, each rank its rows. For single nodes, this rank alone computes their sampled
  /// neighbourhood.
  virtual void gradient(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights, double factor,
                        std::span<const TensorRef> gradients, train::TermSum& loss) = 0;
  /// Collective: evaluates the full graph and returns the range of this rank's nodes, whose outputs it keeps. They are
  /// used by scores() until the next step. Each node belongs to one rank.
  virtual sparse::Range begin_evaluation(const GraphPtr& graph, std::span<const TensorRef> weights) = 0;
  /// Logarithms of the class probabilities of a node. Not collective: if begin_evaluation() has stored no output of
  /// this node on this rank for this graph and these weights, the rank evaluates the full graph itself.
  virtual std::vector<double> scores(const GraphPtr& graph, std::int32_t node, std::span<const TensorRef> weights) = 0;
  /// Data received from other ranks so far, in bytes.
  virtual sparse::Words words() const = 0;
  /// Forms of the products with graphs, for the summary; empty without tiles.
  virtual std::vector<std::string> tiles() const = 0;
  /// Memory of the cached graphs and of data stored by layers.
  virtual std::int64_t bytes() const = 0;
};

/// `comm` must outlive the engine.
template <class T>
std::unique_ptr<NodeEngine> make_engine(const EngineShape& shape, const Comm& comm);

}  // namespace cambium::graph
