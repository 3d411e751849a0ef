#include "plugins/graph/graphs/dimacs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/io/text_lines.hpp"

namespace cambium::graph {

namespace {

class DimacsReader {
 public:
  explicit DimacsReader(const std::string& path) : lines_(path) { out_.path = path; }

  /// Advances to the problem line; false if there is none.
  bool find_problem() {
    while (lines_.next()) {
      words_ = io::split(lines_.line());
      if (words_.empty() || words_[0] == "c") continue;
      return words_[0] == "p" && words_.size() == 4;
    }
    return false;
  }

  EdgeText read() {
    take_problem();
    while (lines_.next()) {
      words_ = io::split(lines_.line());
      if (words_.empty() || words_[0] == "c" || (!arcs_ && words_[0] == "n")) continue;
      add_line();
    }
    require_count();
    return std::move(out_);
  }

 private:
  void take_problem() {
    problem_ = std::string(trim(lines_.line()));
    const auto kind = words_[1];
    arcs_ = kind == "sp";
    if (!arcs_ && kind != "edge" && kind != "edges" && kind != "col")
      lines_.fail(
          fmt::format("the problem '{}' of DIMACS is none of edge, col and sp; save the graph as one of these, or "
                      "as lines 'u v'",
                      kind));
    out_.rows = lines_.integer(words_[2], "the number of nodes");
    stated_ = lines_.integer(words_[3], "the number of edges");
    if (out_.rows < 1 || stated_ < 0) lines_.fail("the number of nodes must be 1 or more, that of edges 0 or more");
    out_.base = 1;
    out_.bipartite = false;
  }

  void add_line() {
    const std::string_view letter = arcs_ ? "a" : "e";
    const std::size_t expected = arcs_ ? 4 : 3;
    if (words_[0] != letter)
      lines_.fail(fmt::format("expected '{}', according to the problem line '{}', but the line begins with '{}'",
                              arcs_ ? "a u v length" : "e u v", problem_, words_[0]));
    if (words_.size() != expected)
      lines_.fail(fmt::format("'{}' was expected, but the line has {} words; is the file cut short?",
                              arcs_ ? "a u v length" : "e u v", words_.size()));
    for (const std::size_t k : {std::size_t{1}, std::size_t{2}}) {
      const auto node = lines_.integer(words_[k], "a node");
      if (node < 1 || node > out_.rows)
        lines_.fail(
            fmt::format("there is no node {}; those of DIMACS are numbered from 1, here to {}", node, out_.rows));
      (k == 1 ? out_.u : out_.v).push_back(node);
    }
    if (arcs_) out_.weight.push_back(lines_.real(words_[3], "the length of an arc"));
    out_.names_weight.push_back(arcs_);
    out_.line.push_back(static_cast<std::int32_t>(lines_.number()));
  }

  void require_count() {
    const auto lines = out_.size();
    std::set<std::pair<std::int64_t, std::int64_t>> given, edges;
    for (std::size_t k = 0; k < out_.u.size(); ++k) {
      given.emplace(out_.u[k], out_.v[k]);
      edges.emplace(std::min(out_.u[k], out_.v[k]), std::max(out_.u[k], out_.v[k]));
    }
    const bool mutual = given.size() > edges.size();
    const auto once = static_cast<std::int64_t>(edges.size());
    if (stated_ != lines && (arcs_ || (stated_ != once && stated_ != 2 * once)))
      throw InputError(fmt::format("{}: the line '{}' states {} {}, but {} follow; is the file cut short?", out_.path,
                                   problem_, stated_, arcs_ ? "arcs" : "edges", lines));
    out_.symmetric = !arcs_ && !mutual;
    out_.notes.push_back(fmt::format("{}: by its line '{}' a {} graph of DIMACS", out_.path, problem_,
                                     arcs_ ? "directed" : "undirected"));
  }

  io::TextLines lines_;
  std::vector<std::string_view> words_;
  std::string problem_;
  EdgeText out_;
  std::int64_t stated_ = 0;
  bool arcs_ = false;
};

}  // namespace

std::optional<EdgeText> read_dimacs(const std::string& path) {
  DimacsReader reader(path);
  if (!reader.find_problem()) return {};
  return reader.read();
}

}  // namespace cambium::graph
