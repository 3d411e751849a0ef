#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/log.hpp"
#include "core/deck/describe.hpp"
#include "plugins/graph/graphs/numbering.hpp"

namespace cambium::graph {

/// Keys of a text of edges where the text alone leaves doubt.
struct EdgeTextKeys {
  enum class Column { source, target, weight, time, other };
  std::vector<Column> columns;  ///< empty: by the names in the file or by how many there are
  std::optional<bool> counts;   ///< whether the first line holds counts; absent: judged by the other lines
};

/// Declares those keys for a Params that derives from them.
template <class P>
void describe_edge_text(deck::Describe<P>& d) {
  using Column = EdgeTextKeys::Column;
  d("columns", &EdgeTextKeys::columns,
    "columns of an edge list, in order; default: the names in its first line, or source, target and, if there is a "
    "third column, weight")
      .options({{"source", Column::source},
                {"target", Column::target},
                {"weight", Column::weight},
                {"time", Column::time},
                {"other", Column::other}})
      .def({})
      .example("[source, target, time]");
  d("counts", &EdgeTextKeys::counts,
    "header of an edge list: true if its first line holds counts (of nodes and edges); default: detected from the "
    "other lines")
      .example("false");
}

/// The edges of a text, with the numbers that it gives to nodes.
struct EdgeText {
  std::string path;
  std::vector<std::int64_t> u, v;    ///< of each edge, as they are written
  std::vector<double> weight;        ///< empty where the text names none
  std::vector<bool> names_weight;    ///< of each edge, whether its line names its weight
  std::vector<std::int32_t> line;    ///< of the text, from 1
  std::int64_t rows = 0;             ///< nodes (or users) that the text says it has; 0: it does not say
  std::int64_t columns = 0;          ///< items that it says it has
  std::optional<std::int64_t> base;  ///< number of the first node, where the format fixes it
  std::optional<bool> bipartite;     ///< whether both columns number different things, where the format says so
  bool symmetric = false;            ///< the format says that an edge stands for both directions
  std::vector<std::string> notes;    ///< how it was understood, for the log

  std::int64_t size() const { return std::ssize(u); }
  /// Throws InputError "path:line: text" for an edge.
  [[noreturn]] void fail(std::int64_t edge, const std::string& text) const;
};

/// Reads a text of edges, each a line "u v", "u v weight" or as `keys.columns` say: nodes are whole numbers from any
/// number on, with or without gaps. Cells stand between blanks, tabs, commas, semicolons or "::" (CellLines). Known
/// beside plain lines: a line of names, a line of counts, dictionaries of networkx, headers of KONECT, Matrix Market in
/// coordinate form by its banner. `bipartite`: both columns number different things, users and items.
/// InputError "file:line: ..." for what is no edge and for a first line that may or may not hold counts.
EdgeText read_edge_text(const std::string& path, const EdgeTextKeys& keys, bool bipartite);

/// Nodes of an undirected or directed graph: those that a line names; where the text says how many there are, also
/// those without an edge; with `count` > 0 the numbers 0 to count - 1, or 1 to count where 0 is not named and `count`
/// is. InputError for a number beyond. Adds to the notes.
Numbering nodes_of(EdgeText& text, std::int64_t count);

/// The notes of a text as lines of the log.
void say_notes(const std::vector<std::string>& notes, Log& log);

}  // namespace cambium::graph
