#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/log.hpp"
#include "core/deck/describe.hpp"
#include "core/sparse/csr.hpp"
#include "plugins/graph/graphs/bytes.hpp"
#include "plugins/graph/graphs/edge_text.hpp"

namespace cambium::graph {

using Place = std::array<double, 3>;

/// An undirected weighted graph whose nodes lie somewhere.
struct Network {
  std::vector<Place> place;          ///< of each node
  sparse::Csr<double> weight;        ///< symmetric, no entry on the diagonal; nodes x nodes
  std::vector<std::int32_t> number;  ///< of each node in the order of the file or of the rule that made it
  Numbering names;                   ///< what the file calls the nodes of that order
  std::int64_t nodes() const { return weight.rows; }
  std::int64_t edges() const { return weight.entries() / 2; }
  std::int64_t bytes() const {
    return 24 * std::ssize(place) + bytes_of(weight) + 4 * std::ssize(number) + names.bytes();
  }
};

/// Where the graph of a deck comes from: exactly one of the keys.
struct NetworkKeys : EdgeTextKeys {
  struct Ring {
    int nodes = 0, neighbours = 1;
    static void describe(deck::Describe<Ring>& d);
  };
  struct Grid {
    std::vector<int> nodes;
    bool periodic = false;
    static void describe(deck::Describe<Grid>& d);
  };
  struct Random {
    int nodes = 0;
    double degree = 8.0;
    std::string weight = "1";
    static void describe(deck::Describe<Random>& d);
  };
  std::optional<Ring> ring;
  std::optional<Grid> grid;
  std::optional<Random> random;
  std::string file, group;
  std::optional<int> first;
  static void describe(deck::Describe<NetworkKeys>& d);
};

/// The graph, the same on every rank. `seed`: of random graphs. What is odd but can be used is said to the log; the
/// rest is an InputError.
Network make_network(const NetworkKeys& keys, std::uint64_t seed, Log& log);

/// Edges as they were read or made.
struct EdgeList {
  std::int64_t nodes = 0;
  std::vector<sparse::Entry> edges;  ///< each undirected edge once, in either direction
  std::vector<Place> place;          ///< empty: nodes lie on a circle
  Numbering names;                   ///< what the file calls the nodes; without nodes: from 0
};
/// A text of edges (read_edge_text()). Nodes are those that a line names; with `keys.first` all from it to the largest.
/// InputError with the line.
EdgeList read_edge_list(const NetworkKeys& keys, Log& log);
/// Arrays edges (edges, 2), weights (edges; 1 when absent) and positions (nodes, 2 or 3; may be absent), attribute
/// `nodes` where some have no edge. Without positions, `nodes` and `keys.first`, nodes are those that edges name.
EdgeList read_edge_file(const NetworkKeys& keys);
/// Edges become symmetric rows: both directions of an edge that was given twice count once where their weights agree
/// and are an error where they do not, self-loops carry nothing and go. Nodes of files are numbered so that neighbours
/// are near each other.
Network network_of(const EdgeList& list, const std::string& name, bool renumber, Log& log);

EdgeList ring_of(const NetworkKeys::Ring& keys);
EdgeList grid_of(const NetworkKeys::Grid& keys);
EdgeList random_of(const NetworkKeys::Random& keys, std::uint64_t seed);

}  // namespace cambium::graph
