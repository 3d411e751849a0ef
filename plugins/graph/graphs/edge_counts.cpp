#include "plugins/graph/graphs/edge_counts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

#include "core/base/error.hpp"

namespace cambium::graph {

namespace {

using Pair = std::pair<std::int64_t, std::int64_t>;

/// Number of distinct node IDs, and their range.
struct Side {
  std::int64_t low = 0, high = 0, named = 0;
  explicit Side(std::vector<std::int64_t> numbers) {
    if (numbers.empty()) return;
    const auto [first, last] = std::minmax_element(numbers.begin(), numbers.end());
    low = *first;
    high = *last;
    named = Numbering::of_named(std::move(numbers)).size();
  }
  /// True if there can be `count` nodes, numbered from 0 or from 1, or exactly those that occur.
  bool fits(std::int64_t count) const { return high < count || (high <= count && low >= 1) || named == count; }
  /// True if `count` is exactly that number, not a larger one.
  bool meets(std::int64_t count) const { return count == high || count == high + 1 || count == named; }
};

class Counts {
 public:
  Counts(const EdgeText& text, bool bipartite)
      : text_(text), first_(text.u), second_(text.v), both_(joined(text)), plain_(!bipartite) {}
  static std::vector<std::int64_t> joined(const EdgeText& text) {
    auto out = text.u;
    out.insert(out.end(), text.v.begin(), text.v.end());
    return out;
  }

  /// Lines, or distinct edges regardless of direction.
  bool edges(std::int64_t count) {
    if (count == text_.size()) return true;
    if (count > text_.size() || count < text_.size() / 4) return false;
    if (different_ < 0) {
      std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
      for (std::size_t k = 0; k < text_.u.size(); ++k)
        pairs.emplace_back(std::min(text_.u[k], text_.v[k]), std::max(text_.u[k], text_.v[k]));
      std::sort(pairs.begin(), pairs.end());
      different_ = std::unique(pairs.begin(), pairs.end()) - pairs.begin();
    }
    return count == different_;
  }
  bool nodes(std::int64_t count) const { return both_.fits(count); }
  bool sides(std::int64_t rows, std::int64_t columns) const {
    return plain_ ? rows == columns && both_.fits(rows) : first_.fits(rows) && second_.fits(columns);
  }
  /// True if the numbers are close to the counts of the other lines and unlikely as an edge: to a node far beyond all
  /// others, or from a node to itself.
  bool near(const std::vector<std::int64_t>& n) const {
    const auto about = [&](std::int64_t count) {
      return text_.size() >= 8 && count >= text_.size() / 2 && count <= 2 * text_.size() + 1 && !named(count);
    };
    if (n.size() == 2) return both_.meets(n[0]) && n[1] > both_.high + 1 && about(n[1]);
    if (n.size() != 3 || !about(n[2])) return false;
    return plain_ ? n[0] == n[1] && both_.meets(n[0]) : first_.meets(n[0]) && second_.meets(n[1]);
  }

 private:
  bool named(std::int64_t number) const {
    return std::find(text_.u.begin(), text_.u.end(), number) != text_.u.end() ||
           std::find(text_.v.begin(), text_.v.end(), number) != text_.v.end();
  }

  const EdgeText& text_;
  Side first_, second_, both_;
  bool plain_;
  std::int64_t different_ = -1;
};

/// Meaning of a line of counts; empty if these are not counts of the text.
struct Found {
  std::int64_t rows = 0, columns = 0;
  std::string said;
};

std::optional<Found> found_in(const std::vector<std::int64_t>& n, Counts& counts, bool bipartite) {
  if (std::any_of(n.begin(), n.end(), [](std::int64_t x) { return x < 1; })) return {};
  if (n.size() == 3 && counts.sides(n[0], n[1]) && counts.edges(n[2]))
    return Found{n[0], bipartite ? n[1] : 0, fmt::format("{} rows, {} columns, {} entries", n[0], n[1], n[2])};
  if (n.size() == 2 && counts.nodes(n[0]) && counts.edges(n[1]))
    return Found{bipartite ? 0 : n[0], 0, fmt::format("{} nodes, {} edges", n[0], n[1])};
  if (n.size() == 2 && counts.nodes(n[1]) && counts.edges(n[0]))
    return Found{bipartite ? 0 : n[1], 0, fmt::format("{} edges, {} nodes", n[0], n[1])};
  if (n.size() == 1 && counts.edges(n[0])) return Found{0, 0, fmt::format("{} edges", n[0])};
  if (n.size() == 1 && !bipartite && counts.nodes(n[0])) return Found{n[0], 0, fmt::format("{} nodes", n[0])};
  return {};
}

/// Neighbours of node `from` in a METIS line; empty if it is not such a line. The third number of the first line
/// encodes the additional values of a line: edge weights (ones digit), node weights (tens), node sizes (hundreds).
std::vector<Pair> metis_line(const std::vector<std::int64_t>& numbers, std::int64_t from, std::int64_t nodes,
                             std::int64_t format) {
  const std::int64_t own = format / 10 % 10 + format / 100, step = 1 + format % 10;
  std::vector<Pair> out;
  for (std::int64_t k = own; k < std::ssize(numbers); k += step) {
    const auto to = numbers[k];
    if (to < 1 || to > nodes || to == from) return {};
    out.emplace_back(from, to);
  }
  return (std::ssize(numbers) - own) % step == 0 ? out : std::vector<Pair>{};
}

}  // namespace

void require_no_metis(const FirstLine& first, const EdgeText& rest) {
  const auto& n = first.numbers;
  const std::int64_t format = n.size() > 2 ? n[2] : 0;
  if (n.size() < 2 || rest.size() == 0 || rest.size() > n[0]) return;
  constexpr std::array<std::int64_t, 8> formats{0, 1, 10, 11, 100, 101, 110, 111};
  if (std::find(formats.begin(), formats.end(), format) == formats.end()) return;
  std::set<Pair> named, edges;
  for (std::int64_t k = 0; k < rest.size(); ++k) {
    const auto at = static_cast<std::size_t>(k);
    std::vector<std::int64_t> numbers{rest.u[at], rest.v[at]};
    if (rest.names_weight[at]) {
      if (rest.weight[at] != std::floor(rest.weight[at])) return;
      numbers.push_back(static_cast<std::int64_t>(rest.weight[at]));
    }
    edges.emplace(std::min(rest.u[at], rest.v[at]), std::max(rest.u[at], rest.v[at]));
    const auto found = metis_line(numbers, rest.line[at] - first.line, n[0], format);
    if (found.empty()) return;
    named.insert(found.begin(), found.end());
  }
  std::set<Pair> once;
  for (const auto& [u, v] : named) {
    if (!named.contains({v, u})) return;
    once.emplace(std::min(u, v), std::max(u, v));
  }
  if (std::ssize(once) != n[1] || (rest.weight.empty() && once == edges)) return;
  throw InputError(
      fmt::format("{}: after the line of counts '{}' line i lists the neighbours of node i, as in a graph of METIS; "
                  "save the graph as a list of edges, or, if a line is an edge, set counts: true",
                  rest.path, fmt::join(n, " ")));
}

bool may_be_counts(const std::vector<std::int64_t>& numbers, std::int64_t lines) {
  return std::any_of(numbers.begin(), numbers.end(),
                     [&](std::int64_t x) { return x >= lines / 4 && x <= 2 * lines + 1; });
}

bool take_counts(const FirstLine& first, EdgeText& rest, const EdgeTextKeys& keys, bool bipartite) {
  if (keys.counts == false || rest.size() == 0) return false;
  Counts counts(rest, bipartite);
  const auto found = found_in(first.numbers, counts, bipartite);
  const std::string shown = fmt::format("{}", fmt::join(first.numbers, " "));
  if (!found) {
    if (keys.counts == true)
      throw InputError(
          fmt::format("{}:{}: '{}' are not the counts of nodes and edges of the {} lines that follow; is the file cut "
                      "short? Correct the line, or remove it and 'counts'",
                      rest.path, first.line, shown, rest.size()));
    if (!counts.near(first.numbers)) return false;
    throw InputError(
        fmt::format("{}:{}: '{}' looks like counts of nodes and edges, but {} lines follow: is the file cut short? If "
                    "it is an edge, set counts: false, if it holds counts, correct them or remove the line",
                    rest.path, first.line, shown, rest.size()));
  }
  rest.rows = found->rows;
  rest.columns = found->columns;
  rest.notes.push_back(
      fmt::format("{}:{}: '{}' is read as a line of counts ({}), which the {} lines that follow match; counts: false "
                  "reads it as an edge",
                  rest.path, first.line, shown, found->said, rest.size()));
  return true;
}

}  // namespace cambium::graph
