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

/// As many as numbers of 32 bits tell apart.
inline constexpr std::int64_t most_nodes = 2147483647;
/// For a graph whose classes come from a file: a network has an answer for every one.
inline constexpr std::int64_t most_classes = 1'000'000;

/// Role of a node.
enum class Role : std::int8_t { none = -1, training = 0, validation = 1, test = 2 };

/// A line between two nodes; of a directed graph, from u to v.
struct Edge {
  std::int32_t u = 0, v = 0;
  double weight = 1.0;
};

/// For a graph that is divided among ranks: the nodes that this rank holds, and what it must know of those that they
/// hear.
struct NodePart {
  std::int64_t first = 0, last = 0;  ///< the nodes [n r / P, n (r + 1) / P) of rank r of P
  std::vector<std::int32_t> others;  ///< nodes of other ranks that own ones hear, ascending
  std::vector<double> looped_sums;   ///< of the rows of A + I: of the own nodes, then of `others`
  /// For a node that is own or one of `others`.
  double looped_sum(std::int64_t node) const;
};

/// One graph in memory. Immutable once made.
struct Graph {
  std::string source;           ///< for messages: a file, or "made"
  sparse::Csr<double> weights;  ///< row i: the nodes that node here().begin + i hears; symmetric unless directed
  bool directed = false;
  std::int64_t edges = 0;            ///< different ones, loops among them
  std::int64_t duplicates = 0;       ///< edges between the same nodes as an earlier one
  std::int64_t mutual = 0;           ///< of an undirected graph: edges that were given in both directions
  bool weighted = true;              ///< whether its source has weights; else all are 1
  std::int64_t loops = 0;            ///< edges from a node to itself
  sparse::Csr<float> features;       ///< of the nodes that are here
  std::int64_t feature_entries = 0;  ///< of all nodes, whoever holds them
  std::vector<std::int32_t> labels;  ///< class of each node of all, -1 where it is not known
  std::int32_t classes = 0;
  std::vector<Role> roles;                ///< of the nodes that are here
  std::array<std::int64_t, 3> in_role{};  ///< nodes to train on, to validate by and to test, of all
  std::uint64_t fingerprint = 0;          ///< of all of the above: equal graphs have equal ones
  std::optional<NodePart> held;           ///< of a divided graph
  Numbering numbering;                    ///< what its source calls the nodes
  std::vector<std::string> notes;         ///< how its source was understood, for the log
  std::int64_t split = 0, splits = 1;     ///< which of its source's splits the roles are, and how many it has
  std::int64_t classes_alone = 0;         ///< nodes that have a class and that no edge of a text names

  std::int64_t nodes() const { return weights.columns; }
  /// The nodes whose rows this rank holds: all, unless the graph is divided.
  sparse::Range here() const { return held ? sparse::Range{held->first, held->last} : sparse::Range{0, nodes()}; }
  /// Memory of its arrays on this rank.
  std::int64_t bytes() const;
};

using GraphPtr = std::shared_ptr<const Graph>;

/// Classes that a method gives to nodes that lie together.
struct NodeClasses {
  sparse::Range nodes;
  std::vector<std::int32_t> classes;  ///< of each
};

/// Parts of a graph. Sizes that do not fit each other are an InputError that names the source.
struct GraphParts {
  std::string source;
  std::int64_t nodes = 0;
  bool directed = false, weighted = true;
  std::vector<Edge> edges;
  Numbering numbering;  ///< without nodes: from 0
  std::vector<std::string> notes;
  std::int64_t classes_alone = 0;    ///< nodes with a class and without an edge
  sparse::Csr<float> features;       ///< no columns: every node is told from the others by a number of its own
  std::vector<std::int32_t> labels;  ///< empty: none is known
  std::vector<Role> roles;           ///< empty: none has any
  std::int64_t split = 0, splits = 1;
};

/// Makes a graph: undirected edges count in both directions, and once where they are given in both. Where the source
/// has weights, those of edges that are given again in the same direction are added up; else every weight is 1.
/// InputError for a node that is not there, a weight that is negative or no number, naming the edge (from 1), and for
/// two directions of an undirected edge whose weights differ.
GraphPtr make_graph(GraphParts parts);

/// The rest of make_graph(): features, labels and roles, given the edges. `weights`, `edges`, `loops` and `duplicates`
/// of `out` are set; of a divided graph `out.held`, too, and `parts` have features and roles of the nodes that are
/// here. Fingerprint and counts of roles are of what is here.
void complete(Graph& out, GraphParts& parts);

/// The entries of A that edges stand for: those of the directions in which they are given (v hears u), and, of a graph
/// without directions, those of the others, too.
struct EdgeEntries {
  std::vector<sparse::Entry> given, turned;
  void add(const Edge& edge, bool directed) {
    given.push_back({edge.v, edge.u, edge.weight});
    if (edge.u != edge.v && !directed) turned.push_back({edge.u, edge.v, edge.weight});
  }
};

/// Features by which nodes [first, last) of a graph without features are told from all others: last - first rows.
sparse::Csr<float> numbers_of_their_own(std::int64_t nodes, std::int64_t first, std::int64_t last);

/// InputError where so many of something were found that are not one for each node; 0 is none, and stands.
void require_size(const std::string& source, std::int64_t nodes, const char* what, std::int64_t found);

/// InputError text of an edge: empty when it can stand.
std::string edge_problem(const Edge& edge, std::int64_t nodes);

/// Lines about the graph: what it has, how its source was understood, and which edges were given more than once.
void report(const Graph& graph, Log& log);

}  // namespace cambium::graph
