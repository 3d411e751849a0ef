#include <algorithm>
#include <queue>
#include <tuple>

#include "plugins/submatrix/blocks/grouping.hpp"

namespace cambium::submatrix {

namespace {

/// Groups merge pair by pair. A merged pair becomes a new node; what is in the queue about nodes that are gone is
/// skipped.
class Agglomeration {
 public:
  Agglomeration(const BlockPattern& pattern, const BlockLayout& layout, int size, const SubmatrixCost& cost)
      : layout_(layout), cost_(cost), size_(static_cast<std::size_t>(size)), node_of_(pattern.size()),
        seen_(pattern.size(), -1) {
    for (std::size_t c = 0; c < pattern.size(); ++c) {
      node_of_[c] = static_cast<int>(c);
      add_node({static_cast<int>(c)}, pattern[c]);
    }
  }

  std::vector<std::vector<int>> run() {
    for (std::size_t c = 0; c < node_of_.size(); ++c) propose(static_cast<int>(c), false);
    while (!queue_.empty()) {
      const auto [share, a, b] = queue_.top();
      queue_.pop();
      if (alive(-a) && alive(-b)) merge(-a, -b);
    }
    std::vector<std::vector<int>> out;
    for (auto& node : nodes_)
      if (node.alive) out.push_back(std::move(node.columns));
    return out;
  }

 private:
  struct Node {
    std::vector<int> columns, rows;
    double dimension = 0.0, width = 0.0, cost = 0.0;
    bool alive = true;
  };
  Node& node(int k) { return nodes_[k]; }
  bool alive(int k) { return node(k).alive; }

  void add_node(std::vector<int> columns, std::vector<int> rows) {
    Node out{std::move(columns), std::move(rows)};
    for (int row : out.rows) out.dimension += layout_.size(row);
    for (int column : out.columns) out.width += layout_.size(column);
    out.cost = cost_(out.dimension, out.width);
    nodes_.push_back(std::move(out));
  }

  /// Puts the unions of node `a` with the nodes in its rows into the queue: with all of them, or only with later ones.
  void propose(int a, bool all) {
    for (int row : node(a).rows) seen_[row] = a;
    std::vector<int> others;
    for (int row : node(a).rows) others.push_back(node_of_[row]);
    std::sort(others.begin(), others.end());
    others.erase(std::unique(others.begin(), others.end()), others.end());
    for (int b : others) {
      if (b == a || (!all && b < a) || (size_ > 0 && node(a).columns.size() + node(b).columns.size() > size_)) continue;
      double dimension = node(a).dimension;
      for (int row : node(b).rows)
        if (seen_[row] != a) dimension += layout_.size(row);
      const double apart = node(a).cost + node(b).cost, saved = apart - cost_(dimension, node(a).width + node(b).width);
      // Nodes are negated, so that among equal savings the pair with the first nodes is taken.
      if (size_ > 0 || saved > 0.0) queue_.emplace(saved / apart, -std::min(a, b), -std::max(a, b));
    }
  }

  void merge(int a, int b) {
    std::vector<int> columns = node(a).columns, rows;
    columns.insert(columns.end(), node(b).columns.begin(), node(b).columns.end());
    std::set_union(node(a).rows.begin(), node(a).rows.end(), node(b).rows.begin(), node(b).rows.end(),
                   std::back_inserter(rows));
    node(a).alive = node(b).alive = false;
    node(a).rows = node(b).rows = {};
    const int next = static_cast<int>(nodes_.size());
    for (int column : columns) node_of_[column] = next;
    add_node(std::move(columns), std::move(rows));
    propose(next, true);
  }

  const BlockLayout& layout_;
  const SubmatrixCost& cost_;
  std::size_t size_;
  std::vector<Node> nodes_;
  std::vector<int> node_of_, seen_;  ///< of each column; last node whose rows were marked
  std::priority_queue<std::tuple<double, int, int>> queue_;
};

}  // namespace

std::vector<std::vector<int>> merged_groups(const BlockPattern& pattern, const BlockLayout& layout, int size,
                                            const SubmatrixCost& cost) {
  return Agglomeration(pattern, layout, size, cost).run();
}

}  // namespace cambium::submatrix
