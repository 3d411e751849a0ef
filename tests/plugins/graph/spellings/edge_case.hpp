#pragma once
// Texts of edges, read by all three readers that a deck has for them.
#include <fmt/format.h>

#include <fstream>
#include <map>
#include <set>
#include <string>

#include "core/base/error.hpp"
#include "plugins/graph/graphs/graph_file.hpp"
#include "plugins/graph/links/link_files.hpp"
#include "plugins/graph/meshes/network.hpp"
#include "tests/scratch.hpp"

namespace cambium::graph::test {

using Pair = std::pair<std::int64_t, std::int64_t>;

/// An undirected graph by the numbers that its file gives to nodes: the lower first.
struct Content {
  std::set<std::int64_t> nodes;
  std::map<Pair, double> edges;
  bool operator==(const Content&) const = default;
};

inline Pair ordered(std::int64_t a, std::int64_t b) { return {std::min(a, b), std::max(a, b)}; }

inline Content content_of(const Graph& graph) {
  Content out;
  for (std::int64_t i = 0; i < graph.nodes(); ++i) {
    out.nodes.insert(graph.numbering.number(i));
    const auto columns = graph.weights.columns_of(i);
    for (std::size_t e = 0; e < columns.size(); ++e)
      out.edges[ordered(graph.numbering.number(i), graph.numbering.number(columns[e]))] = graph.weights.values_of(i)[e];
  }
  return out;
}

inline Content content_of(const Network& network) {
  Content out;
  const auto name = [&](std::int64_t i) { return network.names.number(network.number[i]); };
  for (std::int64_t i = 0; i < network.nodes(); ++i) {
    out.nodes.insert(name(i));
    const auto columns = network.weight.columns_of(i);
    for (std::size_t e = 0; e < columns.size(); ++e)
      out.edges[ordered(name(i), name(columns[e]))] = network.weight.values_of(i)[e];
  }
  return out;
}

/// Links have no weights: 1.
inline Content content_of(const LinkGraph& links) {
  Content out;
  for (std::int64_t i = 0; i < links.users; ++i) {
    out.nodes.insert(links.user_numbers.number(i));
    for (const auto j : links.training.columns_of(i))
      out.edges[ordered(links.user_numbers.number(i), links.item_numbers.number(j))] = 1.0;
  }
  return out;
}

/// A ring of six nodes with a chord, numbered from `first`, `step` apart.
inline Content ring(std::int64_t first = 0, std::int64_t step = 1) {
  Content out;
  for (std::int64_t i = 0; i < 6; ++i) {
    out.nodes.insert(first + step * i);
    out.edges[ordered(first + step * i, first + step * ((i + 1) % 6))] = 1.0;
  }
  out.edges[{first, first + 3 * step}] = 1.0;
  return out;
}

inline std::string lines(const Content& content, const std::string& between = " ", const std::string& end = "\n") {
  std::string out;
  for (const auto& [pair, weight] : content.edges)
    out += fmt::format("{}{}{}{}", pair.first, between, pair.second, end);
  return out;
}

struct EdgeFile {
  Scratch scratch{"edges"};
  std::string write(const std::string& text, const std::string& name = "edges.txt") const {
    std::ofstream(scratch.file(name), std::ios::binary) << text;
    return scratch.file(name);
  }
  Content graph(const std::string& path, const EdgeTextKeys& keys = {}) const {
    return content_of(*read_edge_list({path, "", 0, false, keys}));
  }
  Content links(const std::string& path, const EdgeTextKeys& keys = {}) const {
    return content_of(*make_links(read_link_lines({path, "", false, 0, 0, keys})));
  }
  Content network(const std::string& path, const EdgeTextKeys& keys = {}) const {
    Log log;
    NetworkKeys network;
    static_cast<EdgeTextKeys&>(network) = keys;
    network.file = path;
    return content_of(make_network(network, 1, log));
  }
  /// What is said of a text, with the folder left away.
  template <class F>
  std::string says(F&& action) const {
    try {
      action();
    } catch (const InputError& error) {
      std::string text = error.what();
      const std::string folder = scratch.folder.string() + "/";
      for (auto at = text.find(folder); at != std::string::npos; at = text.find(folder)) text.erase(at, folder.size());
      return text;
    }
    return "no error";
  }
};

}  // namespace cambium::graph::test
