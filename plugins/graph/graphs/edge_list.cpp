// Graphs from text.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.hpp"
#include "core/io/text_lines.hpp"
#include "plugins/graph/graphs/graph_file.hpp"

namespace cambium::graph {

namespace {

/// The words of the next line that says something; empty at the end.
std::vector<std::string_view> next_words(io::TextLines& lines) {
  while (lines.next()) {
    const std::string_view line = lines.line();
    auto words = io::split(line.substr(0, line.find('#')));
    if (!words.empty()) return words;
  }
  return {};
}

/// A node's number; `nodes` is 0 while it is not known how many there are.
std::int32_t node_in(io::TextLines& lines, std::string_view word, std::int64_t nodes) {
  const auto node = lines.integer(word, "the number of a node");
  const auto end = nodes > 0 ? nodes : most_nodes;
  if (node < 0 || node >= end)
    lines.fail(nodes > 0
                   ? fmt::format("there is no node {}; the graph has {}, numbered 0 to {}", node, nodes, nodes - 1)
                   : fmt::format("nodes are numbered from 0 to {}, not {}", most_nodes - 1, node));
  return static_cast<std::int32_t>(node);
}

std::vector<Edge> read_edges(const std::string& path, std::int64_t nodes) {
  io::TextLines lines(path);
  std::vector<Edge> out;
  for (auto words = next_words(lines); !words.empty(); words = next_words(lines)) {
    if (words.size() < 2 || words.size() > 3)
      lines.fail(fmt::format("'u v' or 'u v weight' was expected, but the line has {} word{}{}", words.size(),
                             words.size() == 1 ? "" : "s", words.size() == 1 ? "; is the file cut short?" : ""));
    Edge edge{node_in(lines, words[0], nodes), node_in(lines, words[1], nodes), 1.0};
    if (words.size() == 3) edge.weight = lines.real(words[2], "the weight of an edge");
    if (const auto problem = edge_problem(edge, nodes > 0 ? nodes : most_nodes); !problem.empty()) lines.fail(problem);
    out.push_back(edge);
  }
  return out;
}

Role role_in(io::TextLines& lines, std::string_view word) {
  if (word == "training") return Role::training;
  if (word == "validation") return Role::validation;
  if (word == "test") return Role::test;
  lines.fail(fmt::format("'{}' is no role of a node; training, validation and test are", word));
}

void read_labels(const std::string& path, GraphParts& parts) {
  io::TextLines lines(path);
  parts.labels.assign(static_cast<std::size_t>(parts.nodes), -1);
  parts.roles.assign(static_cast<std::size_t>(parts.nodes), Role::none);
  for (auto words = next_words(lines); !words.empty(); words = next_words(lines)) {
    if (words.size() < 2 || words.size() > 3)
      lines.fail(fmt::format("'node class' or 'node class role' was expected, but the line has {} word{}{}",
                             words.size(), words.size() == 1 ? "" : "s",
                             words.size() == 1 ? "; is the file cut short?" : ""));
    const auto node = static_cast<std::size_t>(node_in(lines, words[0], parts.nodes));
    const auto label = lines.integer(words[1], "the number of a class");
    if (label < 0 || label >= most_classes)
      lines.fail(fmt::format("classes are numbered from 0 to {}, not {}", most_classes - 1, label));
    if (parts.labels[node] >= 0) lines.fail(fmt::format("node {} has a class already; give each node one line", node));
    parts.labels[node] = static_cast<std::int32_t>(label);
    if (words.size() == 3) parts.roles[node] = role_in(lines, words[2]);
  }
}

}  // namespace

GraphPtr read_edge_list(const std::string& edges, const std::string& labels, std::int64_t nodes, bool directed) {
  GraphParts parts;
  parts.source = edges, parts.directed = directed;
  parts.edges = read_edges(edges, nodes);
  parts.nodes = nodes;
  if (nodes == 0) {
    for (const auto& edge : parts.edges)
      parts.nodes = std::max({parts.nodes, std::int64_t{edge.u} + 1, std::int64_t{edge.v} + 1});
    require_few_gaps(edges, "a node", parts.nodes, 2 * std::ssize(parts.edges));
  }
  if (!labels.empty()) read_labels(labels, parts);
  return make_graph(std::move(parts));
}

}  // namespace cambium::graph
