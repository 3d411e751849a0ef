#include "plugins/graph/tiles/orders.hpp"

#include <algorithm>
#include <numeric>
#include <span>

#include "core/base/counts.hpp"

namespace cambium::sparse {

namespace {

std::vector<std::int32_t> counted(std::int64_t n) {
  std::vector<std::int32_t> out(at(n));
  std::iota(out.begin(), out.end(), 0);
  return out;
}

/// Breadth-first searches within groups of nodes; an empty `group` is a single group of all.
class Searches {
 public:
  Searches(const Neighbours& graph, std::span<const std::int32_t> group)
      : graph_(graph), group_(group), seen_(at(graph.nodes()), 0), placed_(at(graph.nodes()), 0) {}

  bool placed(std::int32_t node) const { return placed_[at(node)] != 0; }

  /// A peripheral node: the end of repeated searches, until their depth no longer increases.
  std::int32_t far_node(std::int32_t node) {
    int depth = -1;
    for (int found = search(node, false); found > depth; found = search(node, false)) {
      depth = found;
      node = *std::min_element(reached_.begin() + last_level_, reached_.end(),
                               [&](std::int32_t a, std::int32_t b) { return graph_.degree(a) < graph_.degree(b); });
    }
    return node;
  }
  /// All nodes reached from `node`, each one's new neighbours in ascending degree.
  std::span<const std::int32_t> sorted_from(std::int32_t node) {
    search(node, true);
    for (std::int32_t i : reached_) placed_[at(i)] = 1;
    return reached_;
  }

 private:
  bool together(std::int32_t a, std::int32_t b) const { return group_.empty() || group_[at(a)] == group_[at(b)]; }

  /// Fills reached_ and returns the number of levels.
  int search(std::int32_t from, bool sorted) {
    reached_.assign(1, from);
    seen_[at(from)] = ++round_;
    int levels = 0;
    for (std::size_t first = 0; first < reached_.size(); ++levels) {
      const std::size_t last = reached_.size();
      last_level_ = static_cast<std::ptrdiff_t>(first);
      for (; first < last; ++first) visit(reached_[first], sorted);
    }
    return levels;
  }
  void visit(std::int32_t node, bool sorted) {
    const auto before = std::ssize(reached_);
    for (std::int32_t next : graph_.of(node))
      if (seen_[at(next)] != round_ && together(node, next)) seen_[at(next)] = round_, reached_.push_back(next);
    if (sorted)
      std::stable_sort(reached_.begin() + before, reached_.end(),
                       [&](std::int32_t a, std::int32_t b) { return graph_.degree(a) < graph_.degree(b); });
  }

  const Neighbours& graph_;
  std::span<const std::int32_t> group_;
  std::vector<std::int64_t> seen_;
  std::vector<char> placed_;
  std::vector<std::int32_t> reached_;
  std::ptrdiff_t last_level_ = 0;
  std::int64_t round_ = 0;
};

/// Reverse Cuthill-McKee along edges inside groups.
std::vector<std::int32_t> reverse_cuthill_mckee(const Neighbours& graph, std::span<const std::int32_t> group) {
  Searches searches(graph, group);
  std::vector<std::int32_t> out;
  out.reserve(at(graph.nodes()));
  for (std::int32_t node = 0; node < graph.nodes(); ++node) {
    if (searches.placed(node)) continue;
    const auto piece = searches.sorted_from(searches.far_node(node));
    out.insert(out.end(), piece.begin(), piece.end());
  }
  std::reverse(out.begin(), out.end());
  return out;
}

/// Nodes in a pseudo-random order that does not depend on their structure: the same everywhere.
std::vector<std::int32_t> shuffled(std::int64_t n) {
  auto out = counted(n);
  std::uint64_t state = 0x9e3779b97f4a7c15;
  for (std::int64_t k = n - 1; k > 0; --k) {
    state = state * 6364136223846793005 + 1442695040888963407;
    std::swap(out[at(k)], out[at(static_cast<std::int64_t>((state >> 33) % static_cast<std::uint64_t>(k + 1)))]);
  }
  return out;
}

/// Deterministic hash (the finaliser of splitmix64).
std::uint64_t mixed(std::int32_t node, std::int32_t label) {
  std::uint64_t x = static_cast<std::uint64_t>(node) << 32 | static_cast<std::uint32_t>(label);
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

/// Counts labels of one node's neighbours.
class Votes {
 public:
  explicit Votes(std::int64_t nodes) : count_(at(nodes), 0) {}
  /// The most frequent label; on ties its own, else the one selected by a hash of node and label.
  std::int32_t winner(std::int32_t node, std::span<const std::int32_t> neighbours,
                      const std::vector<std::int32_t>& label) {
    const std::int32_t own = label[at(node)];
    std::int32_t most = 0;
    for (std::int32_t j : neighbours) most = std::max(most, ++count_[at(label[at(j)])]);
    std::int32_t best = own;
    if (count_[at(own)] < most) {
      std::uint64_t least = ~std::uint64_t{0};
      for (std::int32_t j : neighbours) {
        const std::int32_t l = label[at(j)];
        if (count_[at(l)] != most) continue;
        if (const auto drawn = mixed(node, l); drawn < least) {
          least = drawn;
          best = l;
        }
      }
    }
    for (std::int32_t j : neighbours) count_[at(label[at(j)])] = 0;
    return best;
  }

 private:
  std::vector<std::int32_t> count_;
};

}  // namespace

std::vector<std::int32_t> degree_order(const Neighbours& graph) {
  auto out = counted(graph.nodes());
  std::stable_sort(out.begin(), out.end(),
                   [&](std::int32_t a, std::int32_t b) { return graph.degree(a) > graph.degree(b); });
  return out;
}

std::vector<std::int32_t> reverse_cuthill_mckee(const Neighbours& graph) { return reverse_cuthill_mckee(graph, {}); }

std::vector<std::int32_t> communities(const Neighbours& graph, int rounds) {
  auto label = counted(graph.nodes());
  const auto order = shuffled(graph.nodes());
  Votes votes(graph.nodes());
  for (int round = 0; round < rounds; ++round) {
    bool changed = false;
    for (std::int32_t i : order) {
      const std::int32_t best = votes.winner(i, graph.of(i), label);
      changed = changed || best != label[at(i)];
      label[at(i)] = best;
    }
    if (!changed) break;
  }
  return label;
}

std::vector<std::int32_t> community_order(const Neighbours& graph, int rounds) {
  const auto label = communities(graph, rounds);
  std::vector<std::int64_t> size(label.size(), 0);
  for (std::int32_t l : label) ++size[at(l)];
  auto out = reverse_cuthill_mckee(graph, label);
  std::stable_sort(out.begin(), out.end(), [&](std::int32_t a, std::int32_t b) {
    const std::int32_t la = label[at(a)], lb = label[at(b)];
    return size[at(la)] != size[at(lb)] ? size[at(la)] > size[at(lb)] : la < lb;
  });
  return out;
}

}  // namespace cambium::sparse
