#include "plugins/graph/graphs/edge_headers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/io/text_lines.hpp"

namespace cambium::graph {

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

std::string plain_name(std::string_view cell) {
  std::string out;
  for (const char c : lower(cell.substr(0, cell.find(':'))))
    if (std::isalnum(static_cast<unsigned char>(c))) out += c;
  return out;
}

namespace {

using ColumnNames = std::set<std::string, std::less<>>;
const ColumnNames source_names{"source",    "sourceid", "src",    "from",     "fromnode",   "fromnodeid", "fromid",
                               "u",         "node1",    "id1",    "nodea",    "v1",         "user",       "userid",
                               "uid",       "users",    "citing", "customer", "customerid", "sourcenode", "start",
                               "startnode", "origin",   "i",      "person",   "vertex1"};
const ColumnNames target_names{"target",   "targetid", "dst",         "to",      "tonode",    "tonodeid",   "toid",
                               "v",        "node2",    "id2",         "nodeb",   "v2",        "item",       "itemid",
                               "iid",      "items",    "cited",       "product", "productid", "targetnode", "end",
                               "stop",     "endnode",  "destination", "dest",    "j",         "movie",      "movieid",
                               "artistid", "bookid",   "venueid",     "vertex2", "businessid"};
const ColumnNames weight_names{"weight", "weights", "w", "value", "edgeweight", "sign"};
const ColumnNames time_names{"time", "timestamp", "timestamps", "ts", "t", "date", "datetime", "year"};

struct GraphFormat {
  std::string_view start;  ///< of the first line, in lower case
  const char *name, *reader;
};
constexpr GraphFormat graph_formats[] = {{"<gexf", "GEXF", "read_gexf"},
                                         {"<graphml", "GraphML", "read_graphml"},
                                         {"graph [", "GML", "read_gml"},
                                         {"*vertices", "Pajek's format", "read_pajek"},
                                         {"graph {", "DOT", "nx_pydot.read_dot"},
                                         {"digraph", "DOT", "nx_pydot.read_dot"},
                                         {"strict graph", "DOT", "nx_pydot.read_dot"},
                                         {"{\"", "JSON", "node_link_graph"}};

}  // namespace

void require_no_graph_format(const std::string& path) {
  io::TextLines lines(path);
  constexpr int most_lines = 10;
  for (int k = 0; k < most_lines && lines.next(); ++k) {
    const auto first = lower(std::string(trim(lines.line())));
    if (first.empty() || first.starts_with("<?xml") || first.starts_with("<!--") || first.starts_with("creator"))
      continue;
    for (const auto& format : graph_formats)
      if (first.starts_with(format.start))
        throw InputError(
            fmt::format("{}: the file is written in {}, expected lines 'u v' or 'u v weight'; networkx makes them: {}, "
                        "convert_node_labels_to_integers, write_edgelist",
                        path, format.name, format.reader));
    return;
  }
}

std::optional<Market> market_of(const CellLines& lines) {
  const auto& remarks = lines.remarks();
  if (remarks.empty() || !lower(remarks.front()).starts_with("%%matrixmarket")) return {};
  const std::string banner = lower(remarks.front());
  const auto words = io::split(banner);
  const auto refuse = [&](const std::string& why) {
    throw InputError(fmt::format("{}: the banner '{}' {}", lines.path(), remarks.front(), why));
  };
  if (words.size() != 5 || words[1] != "matrix")
    refuse("is not '%%MatrixMarket matrix FORMAT FIELD SYMMETRY'; correct it");
  if (words[2] != "coordinate")
    refuse(fmt::format("has '{}', but edges are the entries of a sparse matrix; save it as coordinate", words[2]));
  if (words[3] != "real" && words[3] != "integer" && words[3] != "pattern" && words[3] != "double")
    refuse(fmt::format("has '{}', but weights are real, integer or pattern", words[3]));
  if (words[4] != "general" && words[4] != "symmetric")
    refuse(fmt::format("has '{}', but weights are general or symmetric", words[4]));
  Market out;
  out.pattern = words[3] == "pattern";
  out.symmetric = words[4] == "symmetric";
  const auto cells = lines.cells();
  std::int64_t* sizes[] = {&out.rows, &out.columns, &out.entries};
  if (cells.size() != 3)
    lines.fail(
        fmt::format("a matrix's rows, columns and entries were expected, but the line has {} words", cells.size()));
  for (std::size_t k = 0; k < 3; ++k) {
    const auto size = lines.whole(cells[k]);
    if (!size || *size < 0) lines.fail(fmt::format("expected a whole number for a size, found '{}'", cells[k]));
    *sizes[k] = *size;
  }
  return out;
}

std::optional<Konect> konect_of(const CellLines& lines, EdgeText& out) {
  static const ColumnNames sorts{"unweighted", "positive",      "posweighted", "signed",          "multisigned",
                                 "weighted",   "multiweighted", "dynamic",     "multiposweighted"};
  const auto& remarks = lines.remarks();
  if (remarks.empty() || remarks.front().front() != '%') return {};
  const std::string first = lower(remarks.front()).substr(1);
  const auto words = io::split(first);
  if (words.size() != 2 || !sorts.contains(words[1])) return {};
  if (words[0] != "sym" && words[0] != "asym" && words[0] != "bip") return {};
  Konect konect{words[1] != "unweighted"};
  out.bipartite = words[0] == "bip";
  out.symmetric = words[0] == "sym";
  out.base = 1;
  if (remarks.size() > 1 && remarks[1].front() == '%') {
    std::vector<std::int64_t> sizes;
    for (const auto word : io::split(std::string_view(remarks[1]).substr(1)))
      if (const auto size = lines.whole(word)) sizes.push_back(*size);
    if (sizes.size() >= 3) {
      out.rows = sizes[1];
      if (!konect.weighted) konect.edges = sizes[0];  // others may count multiplicities
      out.columns = *out.bipartite ? sizes[2] : 0;
    }
  }
  out.notes.push_back(fmt::format("{}: by its header a {} network of KONECT, {}{}", out.path,
                                  *out.bipartite  ? "bipartite"
                                  : out.symmetric ? "symmetric"
                                                  : "directed",
                                  words[1], konect.weighted ? ": its third column is taken for weights" : ""));
  return konect;
}

namespace {

/// The number after a word in a remark: "# Nodes: 6 Edges: 7".
std::optional<std::int64_t> number_after(const std::string& remark, const char* word, const CellLines& lines) {
  const std::string small = lower(remark);
  const auto at = small.find(word);
  if (at == std::string::npos) return {};
  const auto words = io::split(std::string_view(remark).substr(at + std::string_view(word).size()));
  return words.empty() ? std::nullopt : lines.whole(words.front());
}

/// Number of edges regardless of direction.
std::int64_t edges_once(const EdgeText& text) {
  std::set<std::pair<std::int64_t, std::int64_t>> out;
  for (std::size_t k = 0; k < text.u.size(); ++k)
    out.emplace(std::min(text.u[k], text.v[k]), std::max(text.u[k], text.v[k]));
  return std::ssize(out);
}

}  // namespace

void require_stated_counts(const CellLines& lines, const EdgeText& text, const std::optional<Konect>& konect) {
  std::optional<std::int64_t> nodes, edges;
  if (konect && konect->edges > 0) edges = konect->edges;
  for (const auto& remark : lines.remarks()) {
    if (konect) break;
    nodes = number_after(remark, "nodes:", lines);
    edges = number_after(remark, "edges:", lines);
    if (nodes && edges) break;
    nodes.reset(), edges.reset();
  }
  const auto refuse = [&](std::int64_t stated, const char* what, const std::string& found) {
    throw InputError(
        fmt::format("{}: its header states {} {}, but {}; is the file cut short? Correct the header, or set "
                    "counts: false to ignore it",
                    text.path, stated, what, found));
  };
  if (edges && *edges != text.size() && *edges != edges_once(text))
    refuse(*edges, "edges", fmt::format("{} lines follow", text.size()));
  if (!nodes) return;
  auto named = text.u;
  named.insert(named.end(), text.v.begin(), text.v.end());
  if (const auto found = Numbering::of_named(std::move(named)).size(); found > *nodes)
    refuse(*nodes, "nodes", fmt::format("the lines name {}", found));
}

namespace {

using Column = EdgeTextKeys::Column;

/// Roles of columns by their names. One source and one target if these identify the node columns.
struct Named {
  std::vector<Column> column;
  std::vector<std::size_t> source, target;
  bool sure() const { return source.size() == 1 && target.size() == 1; }
};

Named named_columns(std::span<const std::string_view> cells) {
  Named out{std::vector<Column>(cells.size(), Column::other), {}, {}};
  for (std::size_t k = 0; k < cells.size(); ++k) {
    const auto name = plain_name(cells[k]);
    // "head" is the end of an arrow, but the start of a (head, relation, tail) triple. In both, the edge starts at the
    // column that comes first.
    const bool end_of_arrow = name == "head" || name == "tail";
    if (source_names.contains(name) || (end_of_arrow && out.source.empty()))
      out.source.push_back(k);
    else if (target_names.contains(name) || end_of_arrow)
      out.target.push_back(k);
    if (weight_names.contains(name)) out.column[k] = Column::weight;
    if (time_names.contains(name)) out.column[k] = Column::time;
  }
  if (out.sure()) {
    out.column[out.source.front()] = Column::source;
    out.column[out.target.front()] = Column::target;
  }
  return out;
}

/// Adds a note about unused columns.
void say_unused(const std::vector<Column>& columns, std::span<const std::string_view> names, const std::string& path,
                std::vector<std::string>& notes) {
  std::vector<std::string> unused;
  for (std::size_t k = 0; k < names.size(); ++k)
    if (columns[k] == Column::time || columns[k] == Column::other) unused.push_back(fmt::format("'{}'", names[k]));
  if (!unused.empty()) notes.push_back(fmt::format("{}: not used of its columns: {}", path, fmt::join(unused, ", ")));
}

}  // namespace

std::vector<Column> columns_of_names(const CellLines& lines, std::vector<std::string>& notes) {
  const auto cells = lines.cells();
  auto [out, source, target] = named_columns(cells);
  if (source.size() != 1 || target.size() != 1) {
    if (cells.size() != 2 || (!source.empty() && !target.empty()))
      lines.fail(
          fmt::format("the names '{}' do not identify the two columns of nodes of an edge; call them source and "
                      "target, or set columns: [source, target, ...]",
                      fmt::join(cells, "', '")));
    out = {Column::source, Column::target};
  }
  if (std::count(out.begin(), out.end(), Column::weight) > 1)
    lines.fail(
        fmt::format("two of the names '{}' are weights; set columns: [source, target, weight, other], for example",
                    fmt::join(cells, "', '")));
  say_unused(out, cells, lines.path(), notes);
  return out;
}

std::vector<Column> columns_of_remark(const CellLines& lines, std::vector<std::string>& notes) {
  const auto names = lines.remark_cells();
  if (names.size() != lines.cells().size()) return {};
  auto named = named_columns(names);
  if (!named.sure() || std::count(named.column.begin(), named.column.end(), Column::weight) > 1) return {};
  say_unused(named.column, names, lines.path(), notes);
  return std::move(named.column);
}

void require_lines_of_edges(const CellLines& lines) {
  const auto& remarks = lines.remarks();
  if (remarks.size() > 1 && remarks[1].starts_with("# GMT "))
    throw InputError(
        fmt::format("{}: its header is that of networkx's write_adjlist and write_multiline_adjlist, whose lines name "
                    "the neighbours of a node; save the graph by write_edgelist, or, if a line is an edge, set "
                    "columns: [source, target]",
                    lines.path()));
  const auto first = lines.remark_cells();
  if (lines.numbers_between() > 0 && first.size() == 1 && lines.whole(first.front()))
    throw InputError(
        fmt::format("{}: comments between the lines hold node indices, as in LGL files, where the lines that follow "
                    "list the neighbours of that node; save the graph as a list of edges, or, if a line is an edge, "
                    "set columns: [source, target]",
                    lines.path()));
}

}  // namespace cambium::graph
