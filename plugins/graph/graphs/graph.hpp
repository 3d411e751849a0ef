#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/log.hpp"
#include "core/sparse/csr.hpp"
#include "core/sparse/share.hpp"
#include "plugins/graph/graphs/numbering.hpp"

namespace cambium::graph {

/// Maximum number of nodes: indices have 32 bits.
inline constexpr std::int64_t most_nodes = 2147483647;
/// For a graph with classes from a file: a network has an output for each of them.
inline constexpr std::int64_t most_classes = 1'000'000;

/// Role of a node.
enum class Role : std::int8_t { none = -1, training = 0, validation = 1, test = 2 };

/// An edge between two nodes; from u to v in a directed graph.
struct Edge {
  std::int32_t u = 0, v = 0;
  double weight = 1.0;
};

/// For a graph that is partitioned over the ranks: the nodes of this rank, and the data that it needs about their
/// neighbours on other ranks.
struct NodePart {
  std::int64_t first = 0, last = 0;  ///< the nodes [n r / P, n (r + 1) / P) of rank r of P
  std::vector<std::int32_t> others;  ///< neighbours of own nodes on other ranks, ascending
  std::vector<double> looped_sums;   ///< row sums of A + I: of the own nodes, then of `others`
  /// For an own node or one of `others`.
  double looped_sum(std::int64_t node) const;
};

/// A graph in memory. Immutable once created.
struct Graph {
  std::string source;           ///< for messages: a file, or "made"
  sparse::Csr<double> weights;  ///< row i: neighbours (sources) of node here().begin + i; symmetric unless directed
  bool directed = false;
  std::int64_t edges = 0;            ///< distinct ones, including loops
  std::int64_t duplicates = 0;       ///< edges between the same nodes as an earlier one
  std::int64_t mutual = 0;           ///< of an undirected graph: edges given in both directions
  bool weighted = true;              ///< whether its source has weights; else all are 1
  std::int64_t loops = 0;            ///< edges from a node to itself
  sparse::Csr<float> features;       ///< of the local nodes
  std::int64_t feature_entries = 0;  ///< of all nodes, on all ranks
  std::vector<std::int32_t> labels;  ///< class of every node (all ranks), -1 if not known
  std::int32_t classes = 0;
  std::vector<Role> roles;                ///< of the local nodes
  std::array<std::int64_t, 3> in_role{};  ///< numbers of training, validation and test nodes, over all ranks
  std::uint64_t fingerprint = 0;          ///< hash of all of the above: equal graphs have equal ones
  std::optional<NodePart> held;           ///< set for a partitioned graph
  Numbering numbering;                    ///< IDs of the nodes in its source
  std::vector<std::string> notes;         ///< how its source was interpreted, for the log
  std::int64_t split = 0, splits = 1;     ///< index of the split that the roles come from, and how many the source has
  std::int64_t classes_alone = 0;         ///< nodes with a class that occur in no edge of the text

  std::int64_t nodes() const { return weights.columns; }
  /// The nodes whose rows are on this rank: all, unless the graph is partitioned.
  sparse::Range here() const { return held ? sparse::Range{held->first, held->last} : sparse::Range{0, nodes()}; }
  /// Memory of its arrays on this rank.
  std::int64_t bytes() const;
};

using GraphPtr = std::shared_ptr<const Graph>;

/// Classes predicted for a contiguous range of nodes.
struct NodeClasses {
  sparse::Range nodes;
  std::vector<std::int32_t> classes;  ///< of each
};

/// Parts of a graph. Sizes that do not match are an InputError that names the source.
struct GraphParts {
  std::string source;
  std::int64_t nodes = 0;
  bool directed = false, weighted = true;
  std::vector<Edge> edges;
  Numbering numbering;  ///< without nodes: from 0
  std::vector<std::string> notes;
  std::int64_t classes_alone = 0;    ///< nodes with a class and without an edge
  sparse::Csr<float> features;       ///< no columns: one-hot features, a different one for each node
  std::vector<std::int32_t> labels;  ///< empty: none is known
  std::vector<Role> roles;           ///< empty: none has any
  std::int64_t split = 0, splits = 1;
};

/// Builds a graph: undirected edges apply in both directions, and count once if given in both. If the source has
/// weights, those of edges repeated in the same direction are summed; otherwise every weight is 1. InputError, naming
/// the edge (from 1), for a node that does not exist, a weight that is negative or NaN, and for the two directions of
/// an undirected edge with different weights.
GraphPtr make_graph(GraphParts parts);

/// The rest of make_graph(): features, labels and roles, given the edges. `weights`, `edges`, `loops` and `duplicates`
/// of `out` are set; for a partitioned graph also `out.held`, and `parts` has features and roles of the local nodes
/// only. Fingerprint and role counts are then local, too.
void complete(Graph& out, GraphParts& parts);

/// Entries of A for the edges: in the given direction (v receives from u), and, for an undirected graph, also in the
/// reverse direction.
struct EdgeEntries {
  std::vector<sparse::Entry> given, turned;
  void add(const Edge& edge, bool directed) {
    given.push_back({edge.v, edge.u, edge.weight});
    if (edge.u != edge.v && !directed) turned.push_back({edge.u, edge.v, edge.weight});
  }
};

/// One-hot features of nodes [first, last) of a graph without features: last - first rows of the identity matrix.
sparse::Csr<float> numbers_of_their_own(std::int64_t nodes, std::int64_t first, std::int64_t last);

/// InputError if `found`, the number of `what`, differs from the number of nodes; 0 (none) is accepted.
void require_size(const std::string& source, std::int64_t nodes, const char* what, std::int64_t found);

/// InputError text of an edge: empty if the edge is valid.
std::string edge_problem(const Edge& edge, std::int64_t nodes);

/// Logs properties of the graph, how its source was interpreted, and edges that were given more than once.
void report(const Graph& graph, Log& log);

}  // namespace cambium::graph
