#include "plugins/graph/graphs/graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/error.hpp"
#include "plugins/graph/graphs/adjacency.hpp"
#include "plugins/graph/graphs/bytes.hpp"
#include "plugins/graph/graphs/fingerprint.hpp"

namespace cambium::graph {

namespace {

EdgeEntries entries_of(const GraphParts& parts) {
  EdgeEntries out;
  out.given.reserve(parts.edges.size());
  if (!parts.directed) out.turned.reserve(parts.edges.size());
  for (std::size_t k = 0; k < parts.edges.size(); ++k) {
    const Edge& e = parts.edges[k];
    if (const auto problem = edge_problem(e, parts.nodes); !problem.empty())
      throw InputError(fmt::format("{}: edge {}: {}", parts.source, k + 1, problem));
    out.add(e, parts.directed);
  }
  return out;
}

}  // namespace

void require_size(const std::string& source, std::int64_t nodes, const char* what, std::int64_t found) {
  if (found != 0 && found != nodes)
    throw InputError(
        fmt::format("{}: {} {} for {} nodes; the file is cut short, or its parts belong to different graphs", source,
                    found, what, nodes));
}

double NodePart::looped_sum(std::int64_t node) const {
  if (node >= first && node < last) return looped_sums[node - first];
  const auto found = std::lower_bound(others.begin(), others.end(), node) - others.begin();
  return looped_sums[last - first + found];
}

std::int64_t Graph::bytes() const {
  const std::int64_t part = held ? 4 * std::ssize(held->others) + 8 * std::ssize(held->looped_sums) : 0;
  return bytes_of(weights) + bytes_of(features) + 4 * std::ssize(labels) + std::ssize(roles) + part + numbering.bytes();
}

sparse::Csr<float> numbers_of_their_own(std::int64_t nodes, std::int64_t first, std::int64_t last) {
  sparse::Csr<float> out;
  out.rows = last - first;
  out.columns = nodes;
  out.start.resize(static_cast<std::size_t>(last - first) + 1);
  std::iota(out.start.begin(), out.start.end(), std::int64_t{0});
  out.column.resize(last - first);
  std::iota(out.column.begin(), out.column.end(), static_cast<std::int32_t>(first));
  out.value.assign(out.column.size(), 1.0f);
  return out;
}

std::string edge_problem(const Edge& edge, std::int64_t nodes) {
  for (const std::int32_t node : {edge.u, edge.v})
    if (node < 0 || node >= nodes)
      return fmt::format("there is no node {}; the graph has {}, numbered 0 to {}", node, nodes, nodes - 1);
  if (!(edge.weight >= 0.0) || std::isinf(edge.weight))
    return fmt::format("the weight between nodes {} and {} is {}; weights are finite and 0 or more", edge.u, edge.v,
                       std::isnan(edge.weight) ? "not a number" : fmt::format("{:g}", edge.weight));
  return {};
}

GraphPtr make_graph(GraphParts parts) {
  if (parts.nodes < 1) throw InputError(fmt::format("{}: a graph without nodes", parts.source));
  auto out = std::make_shared<Graph>();
  out->source = parts.source;
  out->directed = parts.directed;
  out->weighted = parts.weighted;
  out->numbering = parts.numbering.size() > 0 ? std::move(parts.numbering) : Numbering(parts.nodes);
  out->notes = std::move(parts.notes);
  out->classes_alone = parts.classes_alone;
  {
    const auto entries = entries_of(parts);
    auto found = adjacency_of({parts.nodes, parts.nodes, 0, parts.weighted}, entries.given, entries.turned,
                              parts.source, out->numbering);
    out->weights = std::move(found.weights);
    out->mutual = found.mutual / 2;
  }
  std::int64_t different_loops = 0;
  for (std::int64_t i = 0; i < parts.nodes; ++i) {
    const auto row = out->weights.columns_of(i);
    different_loops += std::binary_search(row.begin(), row.end(), static_cast<std::int32_t>(i));
  }
  const std::int64_t entries = out->weights.entries();
  out->edges = parts.directed ? entries : (entries - different_loops) / 2 + different_loops;
  out->duplicates = std::ssize(parts.edges) - out->edges;
  out->loops = different_loops;
  complete(*out, parts);
  return out;
}

void complete(Graph& out, GraphParts& parts) {
  require_size(parts.source, parts.nodes, "classes", std::ssize(parts.labels));
  const auto here = out.here();
  if (!out.held) {  // otherwise checked for the full arrays by the reader of the part
    require_size(parts.source, parts.nodes, "roles", std::ssize(parts.roles));
    require_size(parts.source, parts.nodes, "rows of features", parts.features.rows);
  }
  out.features =
      parts.features.columns > 0 ? std::move(parts.features) : numbers_of_their_own(parts.nodes, here.begin, here.end);
  out.feature_entries = out.features.entries();
  out.labels = std::move(parts.labels);
  out.split = parts.split;
  out.splits = parts.splits;
  out.roles = std::move(parts.roles);
  out.labels.resize(parts.nodes, -1);
  out.roles.resize(here.size(), Role::none);
  for (const auto role : out.roles)
    if (role != Role::none) ++out.in_role[static_cast<std::size_t>(role)];
  for (const auto label : out.labels) out.classes = std::max(out.classes, label + 1);
  Fingerprint print;
  print.add(out.weights.start);
  print.add(out.weights.column);
  print.add(out.weights.value);
  print.add(out.features.start);
  print.add(out.features.column);
  print.add(out.features.value);
  print.add(out.labels);
  out.fingerprint = print.value();
}

static std::int64_t classes_without_node(const Graph& graph) {
  std::vector<char> used(static_cast<std::size_t>(graph.classes), 0);
  for (const auto label : graph.labels)
    if (label >= 0) used[static_cast<std::size_t>(label)] = 1;
  return std::count(used.begin(), used.end(), 0);
}

void report(const Graph& graph, Log& log) {
  log.info(
      fmt::format("graph {}: {} nodes, {} {}edges, {} loop{}, {} features per node ({:.3g} % not zero), {} classes",
                  graph.source, graph.nodes(), graph.edges, graph.directed ? "directed " : "", graph.loops,
                  graph.loops == 1 ? "" : "s", graph.features.columns,
                  100.0 * static_cast<double>(graph.feature_entries) /
                      (static_cast<double>(graph.nodes()) * static_cast<double>(graph.features.columns)),
                  graph.classes));
  log.info(fmt::format("  nodes to train on {}, to validate {}, to test {}", graph.in_role[0], graph.in_role[1],
                       graph.in_role[2]));
  if (graph.splits > 1)
    log.info(fmt::format("  split {} of 0 to {} (split: each: network k of `ensemble_size` learns split k)",
                         graph.split, graph.splits - 1));
  for (const auto& note : graph.notes) log.info("  " + note);
  if (!graph.numbering.plain())
    log.info(
        fmt::format("  nodes are those named in the file, {}; outputs use these indices", graph.numbering.range()));
  if (graph.classes_alone > 0)
    log.warn(fmt::format("{}: {} nodes have a class, but no edge; do classes and edges use the same node indices?",
                         graph.source, graph.classes_alone));
  if (const auto unused = classes_without_node(graph); unused > 0)
    log.warn(fmt::format("{}: {} of {} classes {} no node{}; networks have an output for each", graph.source, unused,
                         graph.classes, unused == 1 ? "has" : "have",
                         std::find(graph.labels.begin(), graph.labels.end(), 0) == graph.labels.end()
                             ? ": classes count from 0, those of the file from 1 or above"
                             : ""));
  const auto repeated = graph.duplicates - graph.mutual;
  const auto times = [](std::int64_t count) { return fmt::format("{} edge{}", count, count == 1 ? "" : "s"); };
  if (graph.mutual > 0)
    log.info(fmt::format("  {} given in both directions, each counted once (directed: true distinguishes them)",
                         times(graph.mutual)));
  if (repeated > 0 && graph.weighted)
    log.warn(fmt::format("{}: {} given again in the same direction; their weights were summed", graph.source,
                         times(repeated)));
  else if (repeated > 0)
    log.info(fmt::format("  {} given again, each counted once", times(repeated)));
}

}  // namespace cambium::graph
