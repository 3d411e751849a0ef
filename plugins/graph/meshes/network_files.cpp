// Graphs from text files and from HDF5.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/error.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/io/reading.hpp"
#include "plugins/graph/graphs/graph.hpp"
#include "plugins/graph/meshes/network.hpp"

namespace cambium::graph {
namespace {

/// All IDs from the first one to the largest, if the deck gives the first.
Numbering from_first(const EdgeText& text, std::int64_t first) {
  std::int64_t most = first;
  for (std::int64_t k = 0; k < text.size(); ++k)
    for (const auto i : {text.u[k], text.v[k]}) {
      if (i < first)
        text.fail(
            k, fmt::format("node {} comes before the first one, {}; set 'first_index' to the index of the first node",
                           i, first));
      if (i - first >= most_nodes)
        text.fail(
            k, fmt::format("node {} is more than {}; remove 'first_index', so that nodes are those that edges name", i,
                           most_nodes));
      most = std::max(most, i);
    }
  return Numbering(std::max(most - first + 1, text.rows), first);
}

}  // namespace

EdgeList read_edge_list(const NetworkKeys& keys, Log& log) {
  auto text = read_edge_text(keys.file, keys, false);
  if (text.size() == 0) throw InputError(fmt::format("'{}' holds no edge; give lines 'i j [weight]'", keys.file));
  EdgeList out;
  out.names = keys.first ? from_first(text, *keys.first) : nodes_of(text, 0);
  out.nodes = out.names.size();
  out.weighted = !text.weight.empty();
  out.edges.reserve(text.u.size());
  for (std::int64_t k = 0; k < text.size(); ++k) {
    const auto at = static_cast<std::size_t>(k);
    const double weight = text.weight.empty() ? 1.0 : text.weight[at];
    if (weight < 0.0)
      text.fail(k, fmt::format("the weight {:g} is negative; heat would flow towards what is warmer", weight));
    out.edges.push_back({*out.names.node(text.u[at]), *out.names.node(text.v[at]), weight});
  }
  say_notes(text.notes, log);
  if (!out.names.plain())
    log.info(fmt::format("graph '{}': {} nodes, {}; spots, formulas and outputs use these indices", keys.file,
                         out.nodes, out.names.range()));
  return out;
}

namespace {

void read_places(const io::Group& group, EdgeList& out) {
  const auto set = group.dataset("positions");
  const auto shape = set.shape();
  if (shape.size() != 2 || shape[1] < 1 || shape[1] > 3)
    throw InputError(
        fmt::format("'{}': positions must have one row of one to three coordinates for each node", group.file()));
  const auto values = set.read<std::vector<double>>();
  for (std::int64_t i = 0; i < shape[0]; ++i) {
    Place place{};
    for (std::int64_t d = 0; d < shape[1]; ++d) place[d] = values[i * shape[1] + d];
    if (!std::isfinite(place[0] + place[1] + place[2]))
      throw InputError(fmt::format("'{}': the position of node {} is not finite", group.file(), i));
    out.place.push_back(place);
  }
  out.nodes = shape[0];
}

/// Reads the end nodes of edges and checks them against the known nodes.
void read_edges(const io::Group& group, const NetworkKeys& keys, EdgeList& out) {
  const auto set = group.dataset("edges");
  const auto shape = set.shape();
  if (shape.size() != 2 || shape[1] != 2)
    throw InputError(fmt::format("'{}': edges must have two nodes in each row", group.file()));
  const auto ends = set.read<std::vector<std::int64_t>>();
  std::vector<double> weights(shape[0], 1.0);
  out.weighted = group.exists("weights");
  if (out.weighted) weights = group.read<std::vector<double>>("weights");
  if (std::ssize(weights) != shape[0])
    throw InputError(fmt::format("'{}' has {} edges and {} weights; give one weight for each edge", group.file(),
                                 shape[0], weights.size()));
  const std::int64_t first = keys.first.value_or(0);
  if (out.nodes == 0 && keys.first && !ends.empty())
    out.nodes = std::max<std::int64_t>(1, *std::max_element(ends.begin(), ends.end()) - first + 1);
  out.names = out.nodes > 0 ? Numbering(out.nodes, first) : Numbering::of_named(ends);
  out.nodes = out.names.size();
  if (out.nodes > most_nodes)
    throw InputError(fmt::format("'{}' has {} nodes; {} are the most", group.file(), out.nodes, most_nodes));
  for (std::int64_t e = 0; e < shape[0]; ++e) {
    std::array<std::int32_t, 2> node{};
    for (std::size_t k = 0; k < 2; ++k) {
      const auto number = ends[static_cast<std::size_t>(2 * e) + k];
      const auto found = number < 0 ? std::nullopt : out.names.node(number);
      if (!found)
        throw InputError(fmt::format("'{}': row {} of edges names node {}, but nodes are {} to {}", group.file(), e,
                                     number, std::max<std::int64_t>(0, out.names.number(0)),
                                     out.names.number(out.nodes - 1)));
      node[k] = *found;
    }
    const double w = weights[e];
    if (!(w >= 0.0) || !std::isfinite(w))
      throw InputError(
          fmt::format("'{}': the weight of row {} of edges is {:g}; it must be 0 or more", group.file(), e, w));
    out.edges.push_back({node[0], node[1], w});
  }
}

}  // namespace

EdgeList read_edge_file(const NetworkKeys& keys) {
  EdgeList out;
  io::reading(keys.file, [&] {
    const auto file = io::File::open(keys.file);
    const io::Group root = keys.group.empty() ? io::Group(file) : file.group(keys.group);
    if (root.exists("positions")) read_places(root, out);
    if (root.has_attribute("nodes")) {
      const auto said = root.attribute<std::int64_t>("nodes");
      if (out.nodes > 0 && said != out.nodes)
        throw InputError(fmt::format("'{}' holds {} positions, but its attribute nodes is {}; make both the same",
                                     keys.file, out.nodes, said));
      out.nodes = said;
    }
    read_edges(root, keys, out);
    if (out.edges.empty()) throw InputError(fmt::format("'{}' holds no edge", keys.file));
  });
  return out;
}

}  // namespace cambium::graph
