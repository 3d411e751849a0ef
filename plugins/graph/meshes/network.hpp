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

/// An undirected weighted graph with node positions.
struct Network {
  std::vector<Place> place;          ///< of each node
  sparse::Csr<double> weight;        ///< symmetric, no entry on the diagonal; nodes x nodes
  std::vector<std::int32_t> number;  ///< of each node in the order of the file or of the generator
  Numbering names;                   ///< IDs in the file of the nodes in that order
  std::int64_t nodes() const { return weight.rows; }
  std::int64_t edges() const { return weight.entries() / 2; }
  std::int64_t bytes() const {
    return 24 * std::ssize(place) + bytes_of(weight) + 4 * std::ssize(number) + names.bytes();
  }
};

/// Source of the graph of a deck: exactly one of the keys.
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

/// Creates the graph, the same on every rank. `seed`: of random graphs. Oddities that can be handled are logged; others
/// are an InputError.
Network make_network(const NetworkKeys& keys, std::uint64_t seed, Log& log);

/// Edges as read or generated.
struct EdgeList {
  std::int64_t nodes = 0;
  std::vector<sparse::Entry> edges;  ///< in either direction or in both
  std::vector<Place> place;          ///< empty: nodes are placed on a circle
  Numbering names;                   ///< IDs of the nodes in the file; without nodes: from 0
  bool weighted = false;             ///< the file states weights
};
/// Reads an edge list in text form (read_edge_text()). Nodes are those named in a line; with `keys.first` all from it
/// to the largest. InputError with the line.
EdgeList read_edge_list(const NetworkKeys& keys, Log& log);
/// Reads the arrays edges (edges, 2), weights (edges; default 1) and positions (nodes, 2 or 3; optional), and the
/// attribute `nodes` if some have no edge. Without positions, `nodes` and `keys.first`, nodes are those named by edges.
EdgeList read_edge_file(const NetworkKeys& keys);
/// Converts edges to symmetric rows. Weights given again in the same direction are summed, as are the entries of a
/// sparse matrix in coordinate form; an edge without weights counts once. One given in both directions counts once if
/// the weights agree and is an error otherwise; self-loops have no effect and are dropped. Nodes of files are
/// renumbered to bring neighbours close together.
Network network_of(const EdgeList& list, const std::string& name, bool renumber, Log& log);

EdgeList ring_of(const NetworkKeys::Ring& keys);
EdgeList grid_of(const NetworkKeys::Grid& keys);
EdgeList random_of(const NetworkKeys::Random& keys, std::uint64_t seed);

}  // namespace cambium::graph
