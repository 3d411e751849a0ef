// Edge lists in text form: interprets cells as nodes and weights, and headers.
#include "plugins/graph/graphs/edge_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/io/commas.hpp"
#include "plugins/graph/graphs/cell_lines.hpp"
#include "plugins/graph/graphs/dimacs.hpp"
#include "plugins/graph/graphs/edge_counts.hpp"
#include "plugins/graph/graphs/edge_headers.hpp"
#include "plugins/graph/graphs/graph.hpp"

namespace cambium::graph {

namespace {

using Column = EdgeTextKeys::Column;

/// Seconds or milliseconds since 1970, from 1979 to 2128: not plausible as weights.
bool is_time(double x) { return x == std::floor(x) && ((x >= 3e8 && x < 5e9) || (x >= 3e11 && x < 5e12)); }

std::string without_comma(std::string_view cell) {
  std::string out(cell);
  std::erase(out, ',');
  return out;
}

constexpr const char* or_neighbours =
    "; if a line lists the neighbours of a node, as in a graph of METIS, save the graph as a list of edges";

class EdgeReader {
 public:
  EdgeReader(const std::string& path, const EdgeTextKeys& keys, bool bipartite)
      : lines_(path), keys_(keys), bipartite_(bipartite) {
    out_.path = path;
  }

  EdgeText read() {
    require_columns();
    require_no_graph_format(out_.path);
    if (auto dimacs = read_dimacs(out_.path)) return std::move(*dimacs);
    if (!lines_.next()) return std::move(out_);
    if (const auto market = market_of(lines_)) {
      read_market(*market);
    } else {
      konect_ = konect_of(lines_, out_);
      if (keys_.columns.empty()) require_lines_of_edges(lines_);
      if (take_names()) {
        if (!lines_.next()) return std::move(out_);
      } else if (keys_.columns.empty() && !konect_) {
        columns_ = columns_of_remark(lines_, out_.notes);
      }
      read_lines();
      if (keys_.columns.empty()) require_lines_of_edges(lines_);
      judge_columns();
      if (konect_) require_from_one();
      if (keys_.counts != false) require_stated_counts(lines_, out_, konect_);
    }
    if (const auto none = without_weight(); !out_.weight.empty() && none > 0)
      out_.notes.push_back(fmt::format("{}: {} lines name no weight, which is 1 then", out_.path, none));
    return std::move(out_);
  }

 private:
  void require_columns() const {
    if (keys_.columns.empty()) return;
    for (const auto& [column, name] :
         {std::pair{Column::source, "source"}, {Column::target, "target"}, {Column::weight, "weight"}}) {
      const auto count = std::count(keys_.columns.begin(), keys_.columns.end(), column);
      if (count > 1 || (count < 1 && column != Column::weight))
        throw InputError(fmt::format("columns: there must be one '{}', not {}", name, count));
    }
  }

  /// Reads the column names if the first line has them.
  bool take_names() {
    const auto cells = lines_.cells();
    if (cells.size() < 2) return false;
    const auto is_number = [&](std::string_view cell) { return lines_.real(cell).has_value(); };
    if (!keys_.columns.empty()) {
      columns_ = keys_.columns;
      return cells.size() == columns_.size() && !is_number(cells[place_of(Column::source)]) &&
             !is_number(cells[place_of(Column::target)]);
    }
    if (std::any_of(cells.begin(), cells.end(), is_number)) return false;
    columns_ = columns_of_names(lines_, out_.notes);
    return true;
  }

  std::size_t place_of(Column column) const {
    return static_cast<std::size_t>(std::find(columns_.begin(), columns_.end(), column) - columns_.begin());
  }

  std::int64_t node(std::string_view cell) const {
    if (io::Commas::is_grouped(cell))
      lines_.fail(fmt::format("'{}' may be node {} or {}: write whole numbers without separators", cell,
                              cell.substr(0, cell.find(',')), without_comma(cell)));
    const auto found = lines_.whole(cell);
    if (!found)
      lines_.fail(fmt::format("expected a whole number for a node, found '{}'{}", cell,
                              cell.empty() || lines_.real(cell) ? "" : "; number names, as pandas.factorize does"));
    if (*found < 0) lines_.fail(fmt::format("node indices start at 0, found {}", *found));
    return *found;
  }
  double real(std::string_view cell, const char* what) const {
    const auto found = lines_.real(cell);
    if (!found) lines_.fail(fmt::format("expected a number for {}, found '{}'", what, cell));
    return *found;
  }

  double weight_in(std::string_view cell) {
    commas_.add(cell);
    return real(cell, "the weight of an edge");
  }

  /// Reads a third cell of unknown meaning.
  double third(std::string_view cell) {
    const double value = weight_in(cell);
    thirds_ = true;
    whole_thirds_ = whole_thirds_ && value == std::floor(value);
    return value;
  }

  std::int64_t without_weight() const { return std::count(out_.names_weight.begin(), out_.names_weight.end(), false); }

  void add(std::int64_t u, std::int64_t v, std::optional<double> weight) {
    if (weight && out_.weight.empty()) out_.weight.assign(out_.u.size(), 1.0);
    out_.u.push_back(u);
    out_.v.push_back(v);
    if (!out_.weight.empty() || weight) out_.weight.push_back(weight.value_or(1.0));
    out_.names_weight.push_back(weight.has_value());
    out_.line.push_back(static_cast<std::int32_t>(lines_.line_number()));
  }

  /// Weight from a dictionary after the nodes.
  std::optional<double> of_attributes() const {
    if (!lines_.attributes()) return {};
    bool wrong = false;
    const auto weight = number_of_key(*lines_.attributes(), "weight", wrong);
    if (wrong) lines_.fail(fmt::format("expected a number for 'weight' in '{{{}}}'", *lines_.attributes()));
    return weight;
  }

  void add_line() {
    const auto cells = lines_.cells();
    if (columns_.empty()) {
      if (cells.size() < 2 || cells.size() > 4)
        lines_.fail(fmt::format("'u v' or 'u v weight' was expected, but the line has {} word{}{}", cells.size(),
                                cells.size() == 1 ? "" : "s",
                                cells.size() == 1
                                    ? "; is the file cut short?"
                                    : fmt::format("; describe them by the key 'columns'{}", or_neighbours)));
      std::optional<double> weight = of_attributes();
      if (cells.size() > 2) weight = third(cells[2]);
      if (cells.size() > 3) last_.push_back(real(cells[3], "the time of an edge"));
      const auto u = node(cells[0]), v = node(cells[1]);
      add(u, v, weight);
      return;
    }
    const auto weight = place_of(Column::weight), most = columns_.size();
    if (cells.size() > most || cells.size() <= std::max(place_of(Column::source), place_of(Column::target)))
      lines_.fail(
          fmt::format("{} columns were expected, but the line has {}; is the file cut short?", most, cells.size()));
    const auto u = node(cells[place_of(Column::source)]), v = node(cells[place_of(Column::target)]);
    add(u, v, weight < cells.size() ? std::optional(weight_in(cells[weight])) : of_attributes());
  }

  /// The first line if it may be counts: integers only.
  std::optional<FirstLine> first_line() const {
    const auto cells = lines_.cells();
    if (konect_ || lines_.attributes() || cells.size() > 3 || keys_.counts == false) return {};
    FirstLine out{{}, static_cast<std::int32_t>(lines_.line_number())};
    for (const auto cell : cells)
      if (const auto number = lines_.whole(cell))
        out.numbers.push_back(*number);
      else
        return {};
    return out;
  }

  void read_lines() {
    const auto first = first_line();
    const bool single = lines_.cells().size() == 1;
    const std::string cut = single ? fmt::format(
                                         "{}:{}: 'u v' or 'u v weight' was expected, but the line has 1 word; "
                                         "is the file cut short?",
                                         out_.path, lines_.line_number())
                                   : std::string();
    if (!first && keys_.counts == true)
      lines_.fail(
          "the first line holds no counts, which would be two or three whole numbers; correct it, or remove "
          "'counts'");
    if (!first || single || keys_.counts == true) {
      if (!first) add_line();
      while (lines_.next()) add_line();
      if (first && !take_counts(*first, out_, keys_, bipartite_)) throw InputError(cut);
      return;
    }
    // Treated as an edge until the other lines are known.
    add_line();
    while (lines_.next()) add_line();
    if (!may_be_counts(first->numbers, out_.size() - 1)) return;
    EdgeText rest = without_first();
    if (columns_.empty() && !keys_.counts) require_no_metis(*first, rest);
    if (!take_counts(*first, rest, keys_, bipartite_)) return;
    out_ = std::move(rest);
    thirds_ = thirds_ && !out_.weight.empty();
  }

  EdgeText without_first() const {
    EdgeText rest = out_;
    rest.u.erase(rest.u.begin());
    rest.v.erase(rest.v.begin());
    rest.line.erase(rest.line.begin());
    rest.names_weight.erase(rest.names_weight.begin());
    if (!rest.weight.empty()) rest.weight.erase(rest.weight.begin());
    if (std::find(rest.names_weight.begin(), rest.names_weight.end(), true) == rest.names_weight.end())
      rest.weight.clear();  // three counts
    return rest;
  }

  /// Determines the roles of a third and fourth column without names.
  void judge_columns() {
    if (commas_.may_be_thousands())
      throw InputError(fmt::format(
          "{}: some weights have a comma before three digits, as 12,000, others have none: it may be a decimal point "
          "or a thousands separator; write decimal points as points, without thousands separators",
          out_.path));
    if (commas_.is_ambiguous())
      throw InputError(fmt::format(
          "{}: every weight has a comma before three digits, as 12,000: it may be a decimal point or a thousands "
          "separator; write decimal points as points, without thousands separators",
          out_.path));
    if (!columns_.empty() || out_.weight.empty()) return;
    require_plain_thirds();
    const auto times = [](const std::vector<double>& x) { return std::all_of(x.begin(), x.end(), is_time); };
    if (konect_ && !konect_->weighted) {
      out_.weight.clear();
    } else if (!last_.empty()) {
      if (std::ssize(last_) != out_.size() || (!konect_ && !times(last_)))
        throw InputError(
            fmt::format("{}: lines have four columns, of which the last is not a time; describe them, columns: "
                        "[source, target, weight, other], for example{}",
                        out_.path, std::ssize(last_) == out_.size() ? "" : or_neighbours));
      if (!konect_)
        out_.notes.push_back(fmt::format(
            "{}: the third column is read as weights, the fourth as times; the key 'columns' changes this", out_.path));
    } else if (!konect_ && without_weight() == 0 && times(out_.weight)) {
      out_.weight.clear();
      out_.notes.push_back(fmt::format(
          "{}: the third column is read as times, not as weights; the key 'columns' changes this", out_.path));
    } else if (!konect_ && thirds_) {
      const auto [low, high] = std::minmax_element(out_.weight.begin(), out_.weight.end());
      out_.notes.push_back(
          fmt::format("{}: the third column, {:g} to {:g}, is read as weights; the key 'columns' changes this",
                      out_.path, *low, *high));
    }
  }

  /// InputError if unnamed third cells may be nodes: neighbours of the first, or part of a table with line numbers.
  void require_plain_thirds() const {
    if (konect_ || !thirds_ || !whole_thirds_ || !last_.empty()) return;
    if (*std::min_element(out_.weight.begin(), out_.weight.end()) < 0.0) return;  // no nodes
    const auto refuse = [&](const char* why) {
      throw InputError(fmt::format(
          "{}: {}; set columns: [source, target, weight] if the third column holds weights, or as its columns are",
          out_.path, why));
    };
    if (without_weight() > 0)
      refuse("some lines have two whole numbers, some three, as if they named the neighbours of the first node");
    if (counts_lines()) refuse("the first column counts the lines, and the third may be nodes as well as weights");
  }

  /// True if the first column numbers the lines from 0 or 1, and most distinct values of the third, more of them than
  /// rating scales have, also occur in the second. Lists with one held-out item per user may have ratings.
  bool counts_lines() const {
    if (out_.u.front() < 0 || out_.u.front() > 1) return false;
    for (std::int64_t k = 1; k < out_.size(); ++k)
      if (out_.u[k] != out_.u.front() + k) return false;
    const std::set<std::int64_t> of_second(out_.v.begin(), out_.v.end());
    const std::set<double> of_third(out_.weight.begin(), out_.weight.end());
    const auto known = std::count_if(of_third.begin(), of_third.end(),
                                     [&](double x) { return of_second.contains(static_cast<std::int64_t>(x)); });
    return std::ssize(of_third) > 10 && 2 * known > std::ssize(of_third);
  }

  void read_market(const Market& market) {
    out_.rows = market.rows;
    out_.base = 1;
    out_.symmetric = market.symmetric;
    if (bipartite_) out_.columns = market.columns;
    if (!bipartite_ && market.rows != market.columns)
      throw InputError(
          fmt::format("{}: a matrix of {} rows and {} columns is no graph of one kind of nodes; read it as "
                      "links of users and items, or give a square one",
                      out_.path, market.rows, market.columns));
    while (lines_.next()) {
      const auto cells = lines_.cells();
      if (cells.size() != (market.pattern ? 2u : 3u))
        lines_.fail(fmt::format("{} values were expected, but the line has {}; is the file cut short?",
                                market.pattern ? 2 : 3, cells.size()));
      const auto u = node(cells[0]), v = node(cells[1]);
      if (u < 1 || u > market.rows || v < 1 || v > market.columns)
        lines_.fail(fmt::format("there is no entry ({}, {}) in a matrix of {} rows and {} columns, counted from 1", u,
                                v, market.rows, market.columns));
      add(u, v, market.pattern ? std::nullopt : std::optional(real(cells[2], "an entry")));
    }
    if (market.symmetric) require_one_triangle();
    if (out_.size() != market.entries)
      throw InputError(
          fmt::format("{}: the matrix states {} entries, but {} lines follow; the file is cut short or damaged",
                      out_.path, market.entries, out_.size()));
  }

  void require_from_one() const {
    for (std::int64_t k = 0; k < out_.size(); ++k)
      for (const auto node : {out_.u[k], out_.v[k]})
        if (node < 1) out_.fail(k, fmt::format("there is no node {}; KONECT numbers nodes from 1", node));
  }

  /// A symmetric matrix stores an entry once; with both, its weights would count twice.
  void require_one_triangle() const {
    std::set<std::pair<std::int64_t, std::int64_t>> above;
    for (std::size_t k = 0; k < out_.u.size(); ++k)
      if (out_.u[k] < out_.v[k]) above.emplace(out_.v[k], out_.u[k]);
    for (std::int64_t k = 0; !above.empty() && k < out_.size(); ++k)
      if (const auto at = static_cast<std::size_t>(k); above.contains({out_.u[at], out_.v[at]}))
        out_.fail(k,
                  fmt::format("entries ({0}, {1}) and ({1}, {0}) are both there, but a symmetric matrix stores one of "
                              "them; write 'general' in the banner, or remove one triangle",
                              out_.u[at], out_.v[at]));
  }

  CellLines lines_;
  const EdgeTextKeys& keys_;
  bool bipartite_;
  EdgeText out_;
  std::vector<Column> columns_;  ///< empty: not named
  std::vector<double> last_;     ///< unnamed fourth column
  std::optional<Konect> konect_;
  io::Commas commas_;                          ///< of weights
  bool thirds_ = false, whole_thirds_ = true;  ///< unnamed third cells: whether there are any, all integers
};

}  // namespace

void EdgeText::fail(std::int64_t edge, const std::string& text) const {
  throw InputError(fmt::format("{}:{}: {}", path, line[edge], text));
}

EdgeText read_edge_text(const std::string& path, const EdgeTextKeys& keys, bool bipartite) {
  auto out = EdgeReader(path, keys, bipartite).read();
  if (out.bipartite && *out.bipartite != bipartite)
    throw InputError(
        bipartite ? fmt::format("{}: both columns index the same nodes, by its header; set bipartite: false", path)
                  : fmt::format("{}: it is bipartite, by its header: its two columns index different sets, which would "
                                "be merged here; read it as links of users and items",
                                path));
  return out;
}

Numbering nodes_of(EdgeText& text, std::int64_t count) {
  std::vector<std::int64_t> named = text.u;
  named.insert(named.end(), text.v.begin(), text.v.end());
  const auto found = Numbering::of_named(std::move(named));
  if (found.size() > most_nodes)
    throw InputError(fmt::format("{}: {} nodes; {} are the most", text.path, found.size(), most_nodes));
  const std::int64_t said = count > 0 ? count : text.rows;
  if (said == 0 || found.size() == 0) return said > 0 ? Numbering(said) : found;
  const std::int64_t low = found.number(0), high = found.number(found.size() - 1);
  if (count == 0 && found.size() == said) return found;
  const std::int64_t base = text.base ? *text.base : low >= 1 && (count == 0 || high == said) ? 1 : 0;
  const Numbering out(said, base);
  if (base == 1 && !text.base)
    text.notes.push_back(
        fmt::format("{}: no line names node 0, so that its {} nodes are counted from 1", text.path, said));
  for (std::int64_t k = 0; k < text.size(); ++k)
    for (const auto number : {text.u[k], text.v[k]})
      if (!out.node(number))
        text.fail(k, fmt::format("there is no node {}; the graph has {}, {}", number, said, out.range()));
  return out;
}

void say_notes(const std::vector<std::string>& notes, Log& log) {
  for (const auto& note : notes) log.info(note);
}

}  // namespace cambium::graph
