// Five hundred ways to write one list of edges.
#include <algorithm>
#include <random>

#include "tests/catch.hpp"
#include "tests/plugins/graph/spellings/edge_case.hpp"

using namespace cambium;
using namespace cambium::graph;
using namespace cambium::graph::test;

namespace {

/// Draws one of the ways at every choice.
class Speller {
 public:
  explicit Speller(unsigned seed) : draw_(seed) {}

  std::string spelled(const Content& content, bool weighted) {
    separator_ = pick({" ", "\t", "  ", " \t", ",", ", ", ";", "::"});
    end_ = yes() ? "\n" : "\r\n";
    market_ = content.nodes.count(0) == 0 && yes(8);
    const bool konect = !market_ && content.nodes.count(0) == 0 && yes(8);
    attributes_ = !market_ && !konect && yes(5);
    const bool names = !market_ && !konect && !attributes_ && yes(4);
    reversed_ = names && yes();
    if (market_ || konect) separator_ = pick({" ", "\t"});
    lines_.clear();
    for (const auto& [pair, weight] : content.edges) add(pair, weight, weighted);
    if (!market_ && yes(4)) {
      for (const auto& [pair, weight] : content.edges) add({pair.second, pair.first}, weight, weighted);
    }
    const auto count = lines_.size();
    std::shuffle(lines_.begin(), lines_.end(), draw_);
    std::string out = yes(6) && !market_ && !konect ? "\xef\xbb\xbf" : "";
    if (market_)
      out += pick({"%%MatrixMarket matrix coordinate ", "%%matrixmarket Matrix COORDINATE "}) +
             (weighted ? "real symmetric" : "pattern symmetric") + end_ + remark() +
             fmt::format("{0} {0} {1}{2}", *content.nodes.rbegin(), count, end_);
    else if (konect)
      out += fmt::format("% sym {}{}", weighted ? "posweighted" : "unweighted", end_);
    else if (names)
      out += name_line(weighted) + end_;
    else if (yes(4) && dense(content))
      out += fmt::format("{}{}{}{}", content.nodes.size(), between(), count, end_);
    for (const auto& line : lines_) out += remark() + line;
    return out + remark();
  }

 private:
  bool yes(int of = 2) { return std::uniform_int_distribution<int>(1, of)(draw_) == 1; }
  std::string pick(const std::vector<std::string>& ways) {
    return ways[std::uniform_int_distribution<std::size_t>(0, ways.size() - 1)(draw_)];
  }
  static bool dense(const Content& content) {
    return *content.nodes.rbegin() - *content.nodes.begin() == std::ssize(content.nodes) - 1;
  }
  /// Cells may be aligned with more blanks.
  std::string between() {
    const bool blanks = separator_.find_first_not_of(" \t") == std::string::npos;
    return blanks || yes() ? separator_ : separator_ + " ";
  }
  std::string node(std::int64_t number) {
    const std::string quote = !market_ && yes(10) ? "\"" : "";
    return quote + (yes(12) ? fmt::format("{}.0", number) : fmt::format("{}", number)) + quote;
  }
  std::string number(double weight) {
    auto out = pick({fmt::format("{}", weight), fmt::format("{:e}", weight), fmt::format("+{}", weight)});
    if (separator_ == ";" && yes())
      if (const auto dot = out.find('.'); dot != std::string::npos) out[dot] = ',';
    return out;
  }
  std::string remark() {
    if (!yes(6)) return "";
    if (market_) return "% a remark" + end_;
    return pick({"", "  ", "# a remark, with 1 2", "% 3 4", "// 5;6"}) + end_;
  }
  void add(Pair pair, double weight, bool weighted) {
    if (market_ && pair.first < pair.second) std::swap(pair.first, pair.second);
    std::vector<std::string> cells{node(pair.first), node(pair.second)};
    if (weighted && !attributes_) cells.push_back(number(weight));
    if (reversed_) std::reverse(cells.begin(), cells.end());
    std::string line = market_ ? "" : pick({"", " ", ""});
    for (std::size_t k = 0; k < cells.size(); ++k) line += (k ? between() : "") + cells[k];
    if (attributes_) line += between() + (weighted ? fmt::format("{{'color': '#1,2', 'weight': {}}}", weight) : "{}");
    if (!market_) line += pick({"", "", " ", "  # said twice", " % once"});
    lines_.push_back(line + end_);
  }
  std::string name_line(bool weighted) {
    std::vector<std::string> cells{pick({"source", "FromNodeId", "\"u\"", "id_1", "src:token"}),
                                   pick({"target", "ToNodeId", "\"v\"", "id_2", "dst:token"})};
    if (weighted) cells.push_back(pick({"weight", "W", "value:float"}));
    if (reversed_) std::reverse(cells.begin(), cells.end());
    std::string out;
    for (std::size_t k = 0; k < cells.size(); ++k) out += (k ? separator_ : "") + cells[k];
    return out;
  }

  std::mt19937 draw_;
  std::string separator_, end_;
  bool market_ = false, attributes_ = false, reversed_ = false;
  std::vector<std::string> lines_;
};

Content some_graph(std::int64_t first, std::int64_t step, bool weighted) {
  std::mt19937 draw(5);
  Content out;
  for (std::int64_t i = 0; i < 30; ++i) {
    const auto number = first + step * i;
    out.nodes.insert(number);
    if (i > 0) out.edges[{first + step * (i - 1), number}] = 1.0;
    if (i > 2 && i % 3 == 0) out.edges[{first + step * (i / 3 - 1), number}] = 1.0;
  }
  if (weighted)
    for (auto& [pair, weight] : out.edges) weight = 0.25 * static_cast<double>(1 + draw() % 20);
  return out;
}

}  // namespace

TEST_CASE("five hundred ways to write a list of edges are one graph to all who read it") {
  const EdgeFile file;
  for (unsigned seed = 0; seed < 500; ++seed) {
    const bool weighted = seed % 2 == 1;
    const auto content = some_graph(seed % 3 == 0 ? 0 : 1, seed % 5 == 0 ? 5 : 1, weighted);
    const auto text = Speller(seed).spelled(content, weighted);
    const auto path = file.write(text);
    INFO("seed " << seed << "\n" << text.substr(0, 400));
    Content expected = content;
    if (text.find("atrix") != std::string::npos && seed % 5 == 0)  // a matrix has all rows to its size
      for (std::int64_t i = 1; i <= *content.nodes.rbegin(); ++i) expected.nodes.insert(i);
    REQUIRE(file.graph(path) == expected);
    REQUIRE(file.network(path) == expected);
    Content links = content;
    for (auto& [pair, weight] : links.edges) weight = 1.0;
    REQUIRE(file.links(path) == links);
  }
}
