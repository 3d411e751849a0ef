#pragma once
#include <optional>

#include "plugins/graph/graphs/cell_lines.hpp"
#include "plugins/graph/graphs/edge_text.hpp"

namespace cambium::graph {

/// Content of the banner and the line of sizes of a Matrix Market file (Boisvert, Pozo and Remington, NISTIR 5935).
struct Market {
  std::int64_t rows = 0, columns = 0, entries = 0;
  bool pattern = false, symmetric = false;
};
/// None where the file does not begin with the banner. `lines` are at the line of sizes. InputError for a matrix that
/// is no graph: dense, complex, skew-symmetric.
std::optional<Market> market_of(const CellLines& lines);

/// Content of the header of a KONECT file (Kunegis, Handbook of network analysis: "% sym unweighted").
struct Konect {
  bool weighted = false;
};
/// None where the file has no such header. Sets numbers of nodes, base and sides of `out`.
std::optional<Konect> konect_of(const CellLines& lines, EdgeText& out);

/// Roles of columns by their names in the line where `lines` are; columns that are not used are named in a note.
/// InputError where the names do not say which ones are nodes.
std::vector<EdgeTextKeys::Column> columns_of_names(const CellLines& lines, std::vector<std::string>& notes);
/// The same by the last remark before the line where `lines` are ("# FromNodeId ToNodeId Timestamp"); empty where it
/// does not name as many columns, the nodes among them.
std::vector<EdgeTextKeys::Column> columns_of_remark(const CellLines& lines, std::vector<std::string>& notes);

/// InputError where remarks say that lines name neighbours of a node instead of edges: networkx's lists of neighbours,
/// LGL. The latter shows when all lines have been read.
void require_lines_of_edges(const CellLines& lines);

/// InputError for a file in GraphML, GEXF, GML, Pajek's format, DOT or JSON, with the call of networkx that turns it
/// into lines of edges.
void require_no_graph_format(const std::string& path);

}  // namespace cambium::graph
