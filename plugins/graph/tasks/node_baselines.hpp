#pragma once
#include <optional>

#include "core/deck/describe.hpp"
#include "core/parallel/context.hpp"
#include "plugins/graph/graphs/graph.hpp"

namespace cambium::graph {

/// Predictions of one method for nodes.
struct Judgement {
  NodeClasses nodes;
  double validation = 0.0;           ///< accuracy on the validation nodes; NaN if there are none
  std::vector<float> probabilities;  ///< of the classes: `nodes` x classes; label propagation: fractions of its labels
  std::int64_t classes = 0;          ///< columns of `probabilities`; a network may have more than the graph
};

/// Number of correctly classified nodes.
struct Right {
  std::int64_t right = 0, all = 0;
  double share() const;  ///< accuracy; NaN for no nodes
};
/// For the nodes of `nodes`, ascending, with classes in `here`.
Right count_right(const Graph& graph, std::span<const std::int32_t> nodes, const NodeClasses& here);

/// Predicts the most frequent class of the training and validation nodes for all nodes.
Judgement most_frequent(const Graph& graph);

struct LabelPropagationKeys {
  std::vector<double> alpha = {0.5, 0.8, 0.9, 0.95, 0.99};
  std::int64_t steps = 50;
  static void describe(deck::Describe<LabelPropagationKeys>& d);
};

/// Label propagation along edges, y <- alpha D^-1/2 A D^-1/2 y + (1 - alpha) y_0 (Zhou et al. 2004; for a directed
/// graph the right D holds column sums); no features and no training. The given alpha with the highest accuracy on the
/// validation nodes is used and returned in `chosen`.
Judgement propagate_labels(const Graph& graph, const LabelPropagationKeys& keys, double& chosen);

struct FeatureNetworkKeys {
  std::vector<std::int64_t> layers = {16};
  double dropout = 0.5, learning_rate = 0.01, weight_decay = 5e-4;
  std::optional<bool> sums_to_one;  ///< absent: true if features are counts
  std::int64_t epochs = 200, seeds = 3;
  static void describe(deck::Describe<FeatureNetworkKeys>& d);
};

/// A network of node features only, without edges, trained with one seed on this rank only.
Judgement judge_by_features(const GraphPtr& graph, const FeatureNetworkKeys& keys, std::uint64_t seed,
                            const Context& context);

}  // namespace cambium::graph
