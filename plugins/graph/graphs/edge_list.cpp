// Graphs from text files.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "plugins/graph/graphs/cell_lines.hpp"
#include "plugins/graph/graphs/graph_file.hpp"

namespace cambium::graph {

namespace {

Role role_in(const CellLines& lines, std::string_view word) {
  if (word == "training" || word == "train") return Role::training;
  if (word == "validation" || word == "valid" || word == "val") return Role::validation;
  if (word == "test") return Role::test;
  lines.fail(fmt::format("'{}' is no role of a node; training, validation and test are", word));
}

/// A line of a text of classes.
struct Labelled {
  std::int64_t node = 0;
  std::int32_t label = 0;
  Role role = Role::none;
  std::int64_t line = 0;
};

std::vector<Labelled> read_labels(const std::string& path) {
  CellLines lines(path);
  std::vector<Labelled> out;
  for (bool first = true; lines.next(); first = false) {
    const auto cells = lines.cells();
    if (cells.size() < 2 || cells.size() > 3)
      lines.fail(fmt::format("'node class' or 'node class role' was expected, but the line has {} word{}{}",
                             cells.size(), cells.size() == 1 ? "" : "s",
                             cells.size() == 1 ? "; is the file cut short?" : ""));
    const auto node = lines.whole(cells[0]), label = lines.whole(cells[1]);
    if (first && !node && !label && !lines.real(cells[0]) && !lines.real(cells[1])) continue;  // names of the columns
    if (!node) lines.fail(fmt::format("expected a whole number for a node, found '{}'", cells[0]));
    if (!label) lines.fail(fmt::format("expected a whole number for the index of a class, found '{}'", cells[1]));
    if (*label < 0 || *label >= most_classes)
      lines.fail(fmt::format("classes are numbered from 0 to {}, not {}", most_classes - 1, *label));
    out.push_back({*node, static_cast<std::int32_t>(*label), cells.size() == 3 ? role_in(lines, cells[2]) : Role::none,
                   lines.line_number()});
  }
  return out;
}

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
