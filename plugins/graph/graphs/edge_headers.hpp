#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/graph/graphs/cell_lines.hpp"
#include "plugins/graph/graphs/edge_text.hpp"

namespace cambium::graph {

/// A text in lower case.
std::string lower(std::string_view text);
/// A column name in lower case without its type ("user_id:token"), blanks, dashes and underscores.
std::string plain_name(std::string_view cell);

/// Content of the banner and the line of sizes of a Matrix Market file (Boisvert, Pozo and Remington, NISTIR 5935).
struct Market {
  std::int64_t rows = 0, columns = 0, entries = 0;
  bool pattern = false, symmetric = false;
};
/// None if the file does not begin with the banner. `lines` is at the size line. InputError for a matrix that is not a
/// graph: dense, complex, skew-symmetric.
std::optional<Market> market_of(const CellLines& lines);

/// Content of the header of a KONECT file (Kunegis, Handbook of network analysis: "% sym unweighted").
struct Konect {
  bool weighted = false;
  std::int64_t edges = 0;  ///< that it states; 0: none, or not comparable with the number of lines
};
/// None if the file has no such header. Sets the numbers of nodes, `base` and `bipartite` of `out`.
std::optional<Konect> konect_of(const CellLines& lines, EdgeText& out);

/// InputError if the header states another number of edges than there are, counted by line or regardless of direction,
/// or fewer nodes than the lines name: that of KONECT, or SNAP's "# Nodes: 6 Edges: 7".
void require_stated_counts(const CellLines& lines, const EdgeText& text, const std::optional<Konect>& konect);

/// Roles of columns from their names in the current line of `lines`; a note lists unused columns. InputError if the
/// names do not identify the node columns.
std::vector<EdgeTextKeys::Column> columns_of_names(const CellLines& lines, std::vector<std::string>& notes);
/// The same from the last comment before the current line of `lines` ("# FromNodeId ToNodeId Timestamp"); empty unless
/// it names as many columns, including the node columns.
std::vector<EdgeTextKeys::Column> columns_of_remark(const CellLines& lines, std::vector<std::string>& notes);

/// InputError if comments show that lines list neighbours of a node instead of edges: networkx adjacency lists, LGL.
/// The latter is recognised once all lines have been read.
void require_lines_of_edges(const CellLines& lines);

/// InputError for a file in GraphML, GEXF, GML, Pajek, DOT or JSON format; it gives the networkx call that converts it
/// to an edge list.
void require_no_graph_format(const std::string& path);

}  // namespace cambium::graph
