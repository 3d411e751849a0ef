#include "plugins/graph/meshes/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "core/base/constants.hpp"
#include "core/base/error.hpp"
#include "plugins/graph/meshes/near_order.hpp"

namespace cambium::graph {

void NetworkKeys::Ring::describe(deck::Describe<Ring>& d) {
  d("nodes", &Ring::nodes, "nodes, evenly on a circle of circumference 1").at_least(3);
  d("neighbours", &Ring::neighbours, "number of neighbours on either side of a node").at_least(1).def(1);
  d.check([](const Ring& p) {
    return 2 * p.neighbours < p.nodes ? "" : "'neighbours' on both sides together must be fewer than the other nodes";
  });
}

void NetworkKeys::Grid::describe(deck::Describe<Grid>& d) {
  d("nodes", &Grid::nodes, "number of nodes along x, y and z, one to three values; coordinates are 0, 1, 2, ...")
      .at_least(1)
      .example("[64, 64]");
  d("periodic", &Grid::periodic, "the last node along each direction is a neighbour of the first").def(false);
  d.check(
      [](const Grid& p) { return p.nodes.empty() || p.nodes.size() > 3 ? "'nodes' needs one to three values" : ""; });
}

void NetworkKeys::Random::describe(deck::Describe<Random>& d) {
  d("nodes", &Random::nodes, "number of nodes at random positions in the unit square").at_least(2);
  d("degree", &Random::degree, "mean number of neighbours; it determines the distance within which nodes are connected")
      .positive()
      .def(8.0);
  d("weight", &Random::weight, "edge weight: formula of d, its length over the connection distance (0 to 1)")
      .example("exp(-3*d^2)")
      .def("1");
}

void NetworkKeys::describe(deck::Describe<NetworkKeys>& d) {
  d("ring", &NetworkKeys::ring, "synthetic ring graph");
  d("grid", &NetworkKeys::grid, "synthetic rectangular grid of one to three dimensions");
  d("random", &NetworkKeys::random, "synthetic random geometric graph in the unit square");
  d("file", &NetworkKeys::file,
    "graph file: text with lines 'i j [weight]', or HDF5 (.h5) with arrays edges (edges, 2), weights and positions; "
    "edge directions are ignored, and weights given again in the same direction are summed")
      .def("")
      .example("roads.edges");
  d("group", &NetworkKeys::group, "HDF5 group that holds these arrays").def("");
  d("first_index", &NetworkKeys::first,
    "index of the first node in the file; all indices up to the largest are then nodes, with or without edges; "
    "default: only nodes with an edge")
      .formerly("first")
      .range(0, 1)
      .example("1");
  describe_edge_text(d);
  d.check([](const NetworkKeys& p) {
    return p.ring.has_value() + p.grid.has_value() + p.random.has_value() + !p.file.empty() == 1
               ? ""
               : "the graph needs exactly one of 'ring', 'grid', 'random' and 'file'";
  });
}

static bool is_hdf5(const std::string& path) { return path.ends_with(".h5") || path.ends_with(".hdf5"); }

Network make_network(const NetworkKeys& keys, std::uint64_t seed, Log& log) {
  if (keys.ring) return network_of(ring_of(*keys.ring), "ring", false, log);
  if (keys.grid) return network_of(grid_of(*keys.grid), "grid", false, log);
  if (keys.random) return network_of(random_of(*keys.random, seed), "random", true, log);
  const auto list = is_hdf5(keys.file) ? read_edge_file(keys) : read_edge_list(keys, log);
  return network_of(list, "'" + keys.file + "'", true, log);
}

namespace {

/// Findings in addition to plain edges.
struct Oddities {
  std::int64_t loops = 0, mutual = 0, again = 0, isolated = 0;
};

/// Edges between two nodes: weight and number of those given in either direction.
struct Between {
  double weight[2] = {0.0, 0.0};
  std::int64_t count[2] = {0, 0};
};

/// Sums edges, all between the same two nodes. Without weights each direction is 1.
Between sum_of(std::span<const sparse::Entry> edges, bool weighted) {
  Between out;
  for (const auto& e : edges) {
    const std::size_t way = e.row < e.column ? 0 : 1;
    if (out.count[way]++ == 0 || !weighted)
      out.weight[way] = e.value;
    else
      out.weight[way] += e.value;
  }
  return out;
}

/// Both directions of every edge once.
std::vector<sparse::Entry> both_directions(const EdgeList& list, const std::string& name, Oddities& odd) {
  constexpr double same = 1e-9;  // precision of weights in text files, and of their sums
  std::vector<sparse::Entry> sorted;
  for (const auto& e : list.edges) {
    if (e.row == e.column)
      ++odd.loops;
    else
      sorted.push_back(e);
  }
  const auto ends = [](const sparse::Entry& e) { return std::minmax({e.row, e.column}); };
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const sparse::Entry& a, const sparse::Entry& b) { return ends(a) < ends(b); });
  std::vector<sparse::Entry> out;
  for (std::size_t k = 0, next = 0; k < sorted.size(); k = next) {
    const auto [low, high] = ends(sorted[k]);
    while (next < sorted.size() && ends(sorted[next]) == ends(sorted[k])) ++next;
    const auto between = sum_of(std::span(sorted).subspan(k, next - k), list.weighted);
    const auto [along, back] = between.weight;
    const bool mutual = between.count[0] > 0 && between.count[1] > 0;
    odd.mutual += mutual;
    odd.again += std::max<std::int64_t>(between.count[0] - 1, 0) + std::max<std::int64_t>(between.count[1] - 1, 0);
    if (mutual && std::abs(along - back) > same * std::max(along, back))
      throw InputError(fmt::format(
          "{}: the edge between nodes {} and {} has the weight {:g} in one direction and {:g} in the other; "
          "give it one weight, this graph has no directions",
          name, list.names.number(low), list.names.number(high), along, back));
    const double weight = between.count[0] > 0 ? along : back;
    out.push_back({low, high, weight});
    out.push_back({high, low, weight});
  }
  return out;
}

void say(const Oddities& odd, bool weighted, const std::string& name, Log& log) {
  if (odd.loops)
    log.warn(fmt::format("graph {}: {} edges from a node to itself were left out, nothing flows through them", name,
                         odd.loops));
  if (odd.mutual)
    log.info(fmt::format("graph {}: {} edges are given in both directions, and count once", name, odd.mutual));
  if (odd.again && weighted)
    log.warn(fmt::format("graph {}: {} edges are given again in the same direction; their weights were summed", name,
                         odd.again));
  else if (odd.again)
    log.info(fmt::format("graph {}: {} edges are given more than once, and count once", name, odd.again));
  if (odd.isolated)
    log.warn(fmt::format("graph {}: {} nodes have no edge; only their reactions change them", name, odd.isolated));
}

}  // namespace

Network network_of(const EdgeList& list, const std::string& name, bool renumber, Log& log) {
  Oddities odd;
  Network out;
  const auto entries = both_directions(list, name, odd);
  out.weight = sparse::csr_from_entries(list.nodes, list.nodes, entries).matrix;
  for (std::int64_t i = 0; i < list.nodes; ++i) odd.isolated += out.weight.length(i) == 0;
  say(odd, list.weighted, name, log);
  out.place = list.place;
  out.names = list.names.size() > 0 ? list.names : Numbering(list.nodes);
  for (std::int64_t i = std::ssize(out.place); i < list.nodes; ++i) {
    const double angle = 2.0 * constants::pi * static_cast<double>(i) / static_cast<double>(list.nodes);
    out.place.push_back({std::cos(angle) / (2.0 * constants::pi), std::sin(angle) / (2.0 * constants::pi), 0.0});
  }
  for (std::int64_t i = 0; i < list.nodes; ++i) out.number.push_back(static_cast<std::int32_t>(i));
  if (!renumber) return out;
  out.number = near_order(out.weight);
  out.weight = sparse::permuted(out.weight, out.number);
  std::vector<Place> place;
  for (const auto i : out.number) place.push_back(out.place[i]);
  out.place = std::move(place);
  return out;
}

}  // namespace cambium::graph
