#include "plugins/graph/tasks/node_baselines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/sparse/products.hpp"
#include "plugins/graph/datasets/chosen_nodes.hpp"
#include "plugins/graph/networks/full_batches.hpp"
#include "plugins/graph/networks/gcn.hpp"

namespace cambium::graph {

double Right::share() const {
  return all == 0 ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(right) / static_cast<double>(all);
}

Right count_right(const Graph& graph, std::span<const std::int32_t> nodes, const NodeClasses& here) {
  Right out;
  for (const auto node : nodes) {
    if (!here.nodes.holds(node)) continue;
    ++out.all;
    out.right += here.classes[node - here.nodes.begin] == graph.labels[node];
  }
  return out;
}

/// For all nodes.
static Judgement judged(const Graph& graph, std::vector<std::int32_t> classes, std::vector<float> probabilities) {
  Judgement out{{{0, graph.nodes()}, std::move(classes)}, 0.0, std::move(probabilities), graph.classes};
  out.validation = count_right(graph, nodes_with(graph, Role::validation), out.nodes).share();
  return out;
}

Judgement most_frequent(const Graph& graph) {
  std::vector<std::int64_t> count(graph.classes, 0);
  for (const auto role : {Role::training, Role::validation})  // training nodes are often balanced over classes
    for (const auto node : nodes_with(graph, role)) ++count[graph.labels[node]];
  const auto most = std::max_element(count.begin(), count.end()) - count.begin();
  const auto all = static_cast<float>(std::accumulate(count.begin(), count.end(), std::int64_t{0}));
  std::vector<float> probabilities;
  for (std::int64_t node = 0; node < graph.nodes(); ++node)
    for (const auto one : count) probabilities.push_back(static_cast<float>(one) / all);
  return judged(graph, std::vector<std::int32_t>(graph.labels.size(), static_cast<std::int32_t>(most)),
                std::move(probabilities));
}

void LabelPropagationKeys::describe(deck::Describe<LabelPropagationKeys>& d) {
  d("alpha", &LabelPropagationKeys::alpha,
    "fraction of a node's class that comes from its neighbours; the value of best validation is used")
      .range(0.0, 1.0)
      .def({0.5, 0.8, 0.9, 0.95, 0.99});
  d("steps", &LabelPropagationKeys::steps, "number of propagation steps").at_least(1).def(50);
}

/// D^-1/2 A D^-1/2; for a directed graph with column sums on the right, so that nodes without incoming edges still
/// send.
static sparse::Csr<double> scaled_weights(const Graph& graph) {
  auto out = graph.weights;
  std::vector<double> hears(out.rows, 0.0), heard = hears;
  for (std::int64_t i = 0; i < out.rows; ++i)
    for (auto e = out.start[i]; e < out.start[static_cast<std::size_t>(i) + 1]; ++e) {
      const auto k = static_cast<std::size_t>(e);
      hears[i] += out.value[k];
      heard[out.column[k]] += out.value[k];
    }
  for (std::int64_t i = 0; i < out.rows; ++i)
    for (auto e = out.start[i]; e < out.start[static_cast<std::size_t>(i) + 1]; ++e) {
      const auto k = static_cast<std::size_t>(e);
      const double by = std::sqrt(hears[i] * heard[out.column[k]]);
      out.value[k] = by > 0.0 ? out.value[k] / by : 0.0;
    }
  return out;
}

Judgement propagate_labels(const Graph& graph, const LabelPropagationKeys& keys, double& chosen) {
  const auto spread = scaled_weights(graph);
  const std::int64_t n = graph.nodes(), width = graph.classes;
  std::vector<double> known(n * width, 0.0);
  for (const auto node : nodes_with(graph, Role::training)) known[node * width + graph.labels[node]] = 1.0;
  Judgement best;
  best.validation = -1.0;
  for (const double alpha : keys.alpha) {
    std::vector<double> y = known, next(y.size());
    for (std::int64_t step = 0; step < keys.steps; ++step) {
      sparse::multiply(spread, sparse::Rows<const double>{y.data(), n, width, width},
                       sparse::Rows<double>{next.data(), n, width, width});
      for (std::size_t k = 0; k < y.size(); ++k) y[k] = alpha * next[k] + (1.0 - alpha) * known[k];
    }
    std::vector<std::int32_t> classes;
    std::vector<float> shares;
    for (std::int64_t i = 0; i < n; ++i) {
      const auto* row = y.data() + i * width;
      const double sum = std::accumulate(row, row + width, 0.0);
      for (std::int64_t k = 0; k < width; ++k)
        shares.push_back(static_cast<float>(sum > 0.0 ? row[k] / sum : 1.0 / static_cast<double>(width)));
      classes.push_back(static_cast<std::int32_t>(std::max_element(row, row + width) - row));
    }
    auto found = judged(graph, std::move(classes), std::move(shares));
    if (best.nodes.classes.empty() || found.validation > best.validation) {
      best = std::move(found);
      chosen = alpha;
    }
  }
  return best;
}

void FeatureNetworkKeys::describe(deck::Describe<FeatureNetworkKeys>& d) {
  d("layers", &FeatureNetworkKeys::layers, "widths of the hidden layers").def({16});
  d("dropout", &FeatureNetworkKeys::dropout, "dropout probability of the inputs of every layer")
      .range(0.0, 0.95)
      .def(0.5);
  d("learning_rate", &FeatureNetworkKeys::learning_rate, "learning rate of adam, constant").positive().def(0.01);
  d("weight_decay", &FeatureNetworkKeys::weight_decay, "weight decay of the first layer").non_negative().def(5e-4);
  d("sums_to_one", &FeatureNetworkKeys::sums_to_one,
    "row normalisation: features of a node are divided by their sum; default: chosen on the validation nodes if all "
    "are non-negative integers, else false");
  d("epochs", &FeatureNetworkKeys::epochs, "steps, each over all training nodes").at_least(1).def(200);
  d("seeds", &FeatureNetworkKeys::seeds, "number of networks trained with different seeds; 0 omits this baseline")
      .at_least(0)
      .def(3);
}

Judgement judge_by_features(const GraphPtr& graph, const FeatureNetworkKeys& keys, std::uint64_t seed,
                            const Context& context) {
  Comm alone(MPI_COMM_SELF);
  Log silent(nullptr, false);
  Timing timing;
  Context own{alone, silent, timing, context.registry, seed};
  Gcn::Params params;
  params.neighbours = false;
  params.layers = keys.layers;
  params.dropout = keys.dropout;
  params.sums_to_one = keys.sums_to_one;
  Gcn network(params, own);
  ChosenNodes training(graph, nodes_with(*graph, Role::training));
  network.fit_statistics(training, own);
  auto weights =
      trained_by_full_batches(network, graph, {keys.learning_rate, keys.weight_decay, keys.epochs}, seed, own);
  std::vector<float> probabilities;
  auto classes = network.classes_of(graph, weights.values.views(), &probabilities).classes;
  return judged(*graph, std::move(classes), std::move(probabilities));
}

}  // namespace cambium::graph
