// Graphs from text files.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.hpp"
#include "plugins/graph/graphs/graph_file.hpp"
#include "plugins/graph/graphs/label_text.hpp"

namespace cambium::graph {

namespace {

/// Adds labelled IDs between the smallest and the largest ID of the edges as nodes.
Numbering with_labelled(const Numbering& named, const std::vector<Labelled>& labels) {
  const auto low = named.number(0), high = named.number(named.size() - 1);
  std::vector<std::int64_t> more;
  for (const auto& each : labels)
    if (each.node > low && each.node < high && !named.node(each.node)) more.push_back(each.node);
  if (more.empty()) return named;
  const auto all = named.all();
  more.insert(more.end(), all.begin(), all.end());
  return Numbering::of_named(std::move(more));
}

void take_labels(const std::string& path, const std::vector<Labelled>& labels, const std::string& edges,
                 GraphParts& parts) {
  parts.labels.assign(parts.nodes, -1);
  parts.roles.assign(parts.nodes, Role::none);
  for (const auto& each : labels) {
    const auto found = parts.numbering.node(each.node);
    if (!found)
      throw InputError(
          fmt::format("{}:{}: there is no node {}; the graph has {}, {} ('{}' names no other; where nodes have no "
                      "edge, 'count' sets the number of nodes)",
                      path, each.line, each.node, parts.nodes, parts.numbering.range(), edges));
    const auto node = static_cast<std::size_t>(*found);
    if (parts.labels[node] >= 0)
      throw InputError(
          fmt::format("{}:{}: node {} has a class already; give each node one line", path, each.line, each.node));
    parts.labels[node] = each.label;
    parts.roles[node] = each.role;
  }
}

void take_edges(EdgeText& text, GraphParts& parts) {
  parts.weighted = !text.weight.empty();
  const bool turn = text.symmetric && parts.directed;
  parts.edges.reserve(text.u.size() * (turn ? 2 : 1));
  for (std::int64_t k = 0; k < text.size(); ++k) {
    const auto at = static_cast<std::size_t>(k);
    const Edge edge{*parts.numbering.node(text.u[at]), *parts.numbering.node(text.v[at]),
                    parts.weighted ? text.weight[at] : 1.0};
    if (!(edge.weight >= 0.0))
      text.fail(k, fmt::format("the weight between nodes {} and {} is {:g}; weights are finite and 0 or more",
                               text.u[at], text.v[at], edge.weight));
    parts.edges.push_back(edge);
    if (turn && edge.u != edge.v) parts.edges.push_back({edge.v, edge.u, edge.weight});
  }
}

}  // namespace

GraphPtr read_edge_list(const EdgeListSource& from) {
  auto text = read_edge_text(from.edges, from.keys, false);
  GraphParts parts;
  parts.source = from.edges;
  parts.directed = from.directed;
  parts.numbering = nodes_of(text, from.nodes);
  std::vector<Labelled> labels;
  if (!from.labels.empty()) labels = read_labels(from.labels);
  const auto with_edge = parts.numbering.size();
  if (from.nodes == 0 && with_edge > 0) parts.numbering = with_labelled(parts.numbering, labels);
  parts.classes_alone = parts.numbering.size() - with_edge;
  parts.nodes = parts.numbering.size();
  take_edges(text, parts);
  if (!from.labels.empty() && parts.nodes > 0) take_labels(from.labels, labels, from.edges, parts);
  parts.notes = std::move(text.notes);
  return make_graph(std::move(parts));
}

}  // namespace cambium::graph
