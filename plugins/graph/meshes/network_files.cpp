// Graphs from lines of text and from HDF5.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/io/reading.hpp"
#include "core/io/text_lines.hpp"
#include "plugins/graph/graphs/graph.hpp"
#include "plugins/graph/meshes/network.hpp"

namespace cambium::graph {
namespace {

std::int32_t node_of(const io::TextLines& lines, std::string_view word, int first) {
  const std::int64_t i = lines.integer(word, "a node") - first;
  if (i < 0)
    lines.fail(fmt::format("node {} comes before the first one, {}; set 'first' to the number of the first node",
                           i + first, first));
  if (i >= most_nodes)
    lines.fail(fmt::format("node {} is more than {}; number the nodes without gaps", i + first, most_nodes));
  return static_cast<std::int32_t>(i);
}

void grow(EdgeList& list, std::int32_t i) { list.nodes = std::max<std::int64_t>(list.nodes, i + 1); }

}  // namespace

EdgeList read_edge_list(const std::string& path, int first) {
  EdgeList out;
  io::TextLines lines(path);
  while (lines.next()) {
    const auto words = io::split(std::string_view(lines.line()).substr(0, lines.line().find('#')));
    if (words.empty()) continue;
    if (words.size() < 2 || words.size() > 3)
      lines.fail(fmt::format("expected two nodes and perhaps a weight, found {} words", words.size()));
    sparse::Entry e{node_of(lines, words[0], first), node_of(lines, words[1], first), 1.0};
    if (words.size() == 3) e.value = lines.real(words[2], "the weight of an edge");
    if (e.value < 0.0)
      lines.fail(fmt::format("the weight {:g} is negative; heat would flow towards what is warmer", e.value));
    grow(out, e.row), grow(out, e.column);
    out.edges.push_back(e);
  }
  if (out.edges.empty()) throw InputError(fmt::format("'{}' holds no edge; give lines 'i j [weight]'", path));
  require_few_gaps(path, "a node", out.nodes, 2 * std::ssize(out.edges));
  return out;
}

namespace {

void read_places(const io::Group& group, EdgeList& out) {
  const auto set = group.dataset("positions");
  const auto shape = set.shape();
  if (shape.size() != 2 || shape[1] < 1 || shape[1] > 3)
    throw InputError(
        fmt::format("'{}': positions must have one row of one to three numbers for each node", group.file()));
  const auto values = set.read<std::vector<double>>();
  for (std::int64_t i = 0; i < shape[0]; ++i) {
    Place place{};
    for (std::int64_t d = 0; d < shape[1]; ++d) place[d] = values[i * shape[1] + d];
    if (!std::isfinite(place[0] + place[1] + place[2]))
      throw InputError(fmt::format("'{}': the position of node {} is no number", group.file(), i));
    out.place.push_back(place);
  }
  out.nodes = shape[0];
}

/// The numbers of an edge's ends, checked against the nodes that are known.
void read_edges(const io::Group& group, int first, EdgeList& out) {
  const auto set = group.dataset("edges");
  const auto shape = set.shape();
  if (shape.size() != 2 || shape[1] != 2)
    throw InputError(fmt::format("'{}': edges must have two nodes in each row", group.file()));
  const auto ends = set.read<std::vector<std::int64_t>>();
  std::vector<double> weights(static_cast<std::size_t>(shape[0]), 1.0);
  if (group.exists("weights")) weights = group.read<std::vector<double>>("weights");
  if (std::ssize(weights) != shape[0])
    throw InputError(fmt::format("'{}' has {} edges and {} weights; give one weight for each edge", group.file(),
                                 shape[0], weights.size()));
  const std::int64_t limit = out.nodes > 0 ? out.nodes : most_nodes;
  for (std::int64_t e = 0; e < shape[0]; ++e) {
    const std::int64_t i = ends[2 * e] - first, j = ends[2 * e + 1] - first;
    for (const std::int64_t k : {i, j})
      if (k < 0 || k >= limit)
        throw InputError(fmt::format("'{}': row {} of edges names node {}, but nodes are {} to {}", group.file(), e,
                                     k + first, first, limit - 1 + first));
    const double w = weights[e];
    if (!(w >= 0.0) || !std::isfinite(w))
      throw InputError(
          fmt::format("'{}': the weight of row {} of edges is {:g}; it must be 0 or more", group.file(), e, w));
    out.edges.push_back({static_cast<std::int32_t>(i), static_cast<std::int32_t>(j), w});
  }
}

}  // namespace

EdgeList read_edge_file(const std::string& path, const std::string& group, int first) {
  EdgeList out;
  io::reading(path, [&] {
    const auto file = io::File::open(path);
    const io::Group root = group.empty() ? io::Group(file) : file.group(group);
    if (root.exists("positions")) read_places(root, out);
    if (root.has_attribute("nodes")) {
      const auto said = root.attribute<std::int64_t>("nodes");
      if (out.nodes > 0 && said != out.nodes)
        throw InputError(fmt::format("'{}' holds {} positions, but its attribute nodes says {}; make both the same",
                                     path, out.nodes, said));
      out.nodes = said;
    }
    const bool counted = out.nodes > 0;
    read_edges(root, first, out);
    if (!counted)
      for (const auto& e : out.edges) grow(out, e.row), grow(out, e.column);
    if (out.edges.empty()) throw InputError(fmt::format("'{}' holds no edge", path));
    if (!counted) require_few_gaps(path, "a node", out.nodes, 2 * std::ssize(out.edges));
  });
  return out;
}

}  // namespace cambium::graph
