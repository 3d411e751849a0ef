#include "plugins/graph/graphs/made_graph.hpp"

#include <algorithm>
#include <numeric>

#include "core/parallel/random.hpp"
#include "plugins/graph/graphs/streams.hpp"

namespace cambium::graph {

void MadeGraph::describe(deck::Describe<MadeGraph>& d) {
  d("nodes", &MadeGraph::nodes, "number of nodes").at_least(2).at_most(1e9).def(1000);
  d("classes", &MadeGraph::classes, "number of classes, assigned to nodes with equal probability")
      .at_least(2)
      .at_most(1000)
      .def(4);
  d("degree", &MadeGraph::degree, "mean degree of a node (number of its edges)").positive().def(6.0);
  d("homophily", &MadeGraph::inside, "homophily: fraction of the edges that join nodes of one class")
      .formerly("inside")
      .range(0.0, 1.0)
      .def(0.8);
  d("num_features", &MadeGraph::width, "features of a node, words that it has (1) or has not (0)")
      .formerly("width")
      .at_least(2)
      .def(64);
  d("words", &MadeGraph::words, "maximum number of words of a node").at_least(0).def(8);
  d("signal", &MadeGraph::signal, "fraction of the words sampled from the vocabulary of the node's class")
      .range(0.0, 1.0)
      .def(0.25);
  d("training", &MadeGraph::training, "nodes of each class to train on").at_least(1).def(20);
  d("validation", &MadeGraph::validation,
    "fraction of the remaining nodes used for validation; the rest is the test set")
      .range(0.0, 0.9)
      .def(0.2);
  d("seed", &MadeGraph::seed, "seed of the graph").at_least(0).def(1);
}

namespace {

/// Random numbers for one purpose.
struct Draw {
  std::uint64_t seed, purpose;
  /// Uniform in (0, 1).
  double operator()(std::int64_t id, int k = 0) const {
    return Random4(seed, made_graph_stream, static_cast<std::uint64_t>(id), purpose).uniform(k);
  }
  std::int64_t below(std::int64_t end, std::int64_t id, int k) const {
    return std::min(end - 1, static_cast<std::int64_t>((*this)(id, k) * static_cast<double>(end)));
  }
};

std::vector<Edge> draw_edges(const MadeGraph& keys, const std::vector<std::int32_t>& labels) {
  std::vector<std::vector<std::int32_t>> of_class(keys.classes);
  for (std::size_t i = 0; i < labels.size(); ++i) of_class[labels[i]].push_back(static_cast<std::int32_t>(i));
  const Draw draw{static_cast<std::uint64_t>(keys.seed), 1};
  std::vector<std::pair<std::int32_t, std::int32_t>> pairs;
  const auto wanted = static_cast<std::int64_t>(0.5 * keys.degree * static_cast<double>(keys.nodes));
  for (std::int64_t k = 0; k < wanted; ++k) {
    const auto u = static_cast<std::int32_t>(draw.below(keys.nodes, k, 0));
    const auto own = labels[u];
    const bool inside = draw(k, 1) < keys.inside;
    const auto other = inside ? own : (own + 1 + draw.below(keys.classes - 1, k, 3)) % keys.classes;
    const auto& there = of_class[other];
    if (there.empty()) continue;
    const auto v = there[draw.below(std::ssize(there), k, 2)];
    if (u != v) pairs.emplace_back(std::min(u, v), std::max(u, v));
  }
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  std::vector<Edge> out;
  for (const auto& [u, v] : pairs) out.push_back({u, v, 1.0});
  return out;
}

sparse::Csr<float> draw_features(const MadeGraph& keys, const std::vector<std::int32_t>& labels) {
  const Draw draw{static_cast<std::uint64_t>(keys.seed), 2};
  sparse::Csr<float> out;
  out.rows = keys.nodes;
  out.columns = keys.width;
  for (std::int64_t i = 0; i < keys.nodes; ++i) {
    const std::int64_t label = labels[i], first = keys.width * label / keys.classes,
                       own = keys.width * (label + 1) / keys.classes - first;
    std::vector<std::int32_t> words;
    for (std::int64_t w = 0; w < keys.words; ++w) {
      const auto id = i * keys.words + w;
      const bool of_class = own > 0 && draw(id, 0) < keys.signal;
      words.push_back(
          static_cast<std::int32_t>(of_class ? first + draw.below(own, id, 1) : draw.below(keys.width, id, 1)));
    }
    std::sort(words.begin(), words.end());
    words.erase(std::unique(words.begin(), words.end()), words.end());
    out.column.insert(out.column.end(), words.begin(), words.end());
    out.start.push_back(std::ssize(out.column));
  }
  out.value.assign(out.column.size(), 1.0f);
  return out;
}

std::vector<Role> draw_roles(const MadeGraph& keys, const std::vector<std::int32_t>& labels) {
  const Draw draw{static_cast<std::uint64_t>(keys.seed), 3};
  std::vector<std::int32_t> order(labels.size());
  std::iota(order.begin(), order.end(), 0);
  std::vector<double> place;
  for (std::int64_t i = 0; i < keys.nodes; ++i) place.push_back(draw(i));
  std::sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) { return place[a] < place[b]; });
  std::vector<Role> out(labels.size(), Role::none);
  std::vector<std::int64_t> taken(keys.classes, 0);
  std::vector<std::int32_t> rest;
  for (const auto i : order) {
    auto& count = taken[labels[i]];
    if (count++ < keys.training)
      out[i] = Role::training;
    else
      rest.push_back(i);
  }
  const auto looked_at = static_cast<std::size_t>(keys.validation * static_cast<double>(rest.size()));
  for (std::size_t k = 0; k < rest.size(); ++k) out[rest[k]] = k < looked_at ? Role::validation : Role::test;
  return out;
}

}  // namespace

GraphPtr make_graph(const MadeGraph& keys) {
  GraphParts parts;
  parts.source = "made";
  parts.nodes = keys.nodes;
  const Draw draw{static_cast<std::uint64_t>(keys.seed), 0};
  for (std::int64_t i = 0; i < keys.nodes; ++i)
    parts.labels.push_back(static_cast<std::int32_t>(draw.below(keys.classes, i, 0)));
  parts.edges = draw_edges(keys, parts.labels);
  parts.features = draw_features(keys, parts.labels);
  parts.roles = draw_roles(keys, parts.labels);
  return make_graph(std::move(parts));
}

}  // namespace cambium::graph
