#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/log.hpp"
#include "core/deck/describe.hpp"
#include "plugins/graph/graphs/numbering.hpp"

namespace cambium::graph {

/// Keys that resolve ambiguities of an edge list in text form.
struct EdgeTextKeys {
  enum class Column { source, target, weight, time, other };
  std::vector<Column> columns;  ///< empty: by the names in the file or by their number
  std::optional<bool> counts;   ///< whether the first line holds counts; absent: decided by the other lines
};

/// Declares those keys for a Params class derived from them.
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

/// Edges of a text file, with the node IDs used there.
struct EdgeText {
  std::string path;
  std::vector<std::int64_t> u, v;    ///< of each edge, as in the file
  std::vector<double> weight;        ///< empty if the file has none
  std::vector<bool> names_weight;    ///< of each edge, whether its line names its weight
  std::vector<std::int32_t> line;    ///< of the file, from 1
  std::int64_t rows = 0;             ///< number of nodes (or users) that the file declares; 0: not declared
  std::int64_t columns = 0;          ///< number of items that it declares
  std::optional<std::int64_t> base;  ///< ID of the first node if the format defines it
  std::optional<bool> bipartite;     ///< whether both columns are different kinds of nodes, if the format defines it
  bool symmetric = false;            ///< the format defines that an edge stands for both directions
  std::vector<std::string> notes;    ///< how it was interpreted, for the log

  std::int64_t size() const { return std::ssize(u); }
  /// Throws InputError "path:line: text" for an edge.
  [[noreturn]] void fail(std::int64_t edge, const std::string& text) const;
};

/// Reads an edge list in text form, each line "u v", "u v weight" or as given by `keys.columns`: node IDs are integers
/// that start anywhere, with or without gaps. Cells are separated by blanks, tabs, commas, semicolons or "::"
/// (CellLines). Recognised in addition to plain lines: column names, a line of counts, dictionaries of networkx,
/// headers of KONECT and SNAP, Matrix Market in coordinate form by its banner, DIMACS. `bipartite`: the columns are
/// users and items. InputError "file:line: ..." for a line that is not an edge and for a first line that may or may not
/// hold counts.
EdgeText read_edge_text(const std::string& path, const EdgeTextKeys& keys, bool bipartite);

/// Nodes of an undirected or directed graph: those named in a line; if the file declares their number, also those
/// without an edge; with `count` > 0 the IDs 0 to count - 1, or 1 to count if `count` occurs and 0 does not. InputError
/// for an ID out of range. Adds to the notes.
Numbering nodes_of(EdgeText& text, std::int64_t count);

/// Writes the notes of a text file to the log.
void say_notes(const std::vector<std::string>& notes, Log& log);

}  // namespace cambium::graph
