#include "plugins/graph/links/ranking.hpp"

#include <algorithm>
#include <cmath>

#include "plugins/graph/links/link_loss.hpp"

namespace cambium::graph {

static bool better(const Ranked& a, const Ranked& b) {
  return a.score != b.score ? a.score > b.score : a.item < b.item;
}

std::vector<Ranked> best_items(const LinkGraph& graph, std::int32_t user, std::span<const float> scores,
                               std::int64_t k) {
  std::vector<Ranked> best;  // a heap with the worst on top
  const std::span<const std::int32_t> known[] = {graph.training.columns_of(user), graph.validation.columns_of(user)};
  std::size_t next[] = {0, 0};
  for (std::int64_t n = 0; n < graph.drawable(); ++n) {
    const auto item = graph.drawn(n);
    bool is_known = false;
    for (const int of : {0, 1})
      if (next[of] < known[of].size() && known[of][next[of]] == item) {
        ++next[of];
        is_known = true;
      }
    if (is_known) continue;
    if (!graph.bipartite && item == user) continue;
    const Ranked own{item, scores[item]};
    const bool full = std::ssize(best) == k;
    if (full && !better(own, best.front())) continue;
    if (full) std::pop_heap(best.begin(), best.end(), better), best.pop_back();
    best.push_back(own);
    std::push_heap(best.begin(), best.end(), better);
  }
  std::sort_heap(best.begin(), best.end(), better);
  return best;
}

namespace {

/// Metrics of one user.
struct Figures {
  double recall = 0.0, ndcg = 0.0, above = 0.0;
};

Figures figures_of(const LinkGraph& graph, std::int32_t user, std::span<const float> scores, std::int64_t k) {
  Figures out;
  const auto wanted = graph.held_out.columns_of(user);
  const auto best = best_items(graph, user, scores, k);
  double gain = 0.0, most = 0.0, found = 0.0;
  for (std::size_t place = 0; place < best.size(); ++place)
    if (std::binary_search(wanted.begin(), wanted.end(), best[place].item)) {
      found += 1.0;
      gain += 1.0 / std::log2(2.0 + static_cast<double>(place));
    }
  for (std::size_t place = 0; place < std::min(wanted.size(), static_cast<std::size_t>(k)); ++place)
    most += 1.0 / std::log2(2.0 + static_cast<double>(place));
  out.recall = found / static_cast<double>(wanted.size());
  out.ndcg = gain / most;
  for (std::size_t e = 0; e < wanted.size(); ++e) {
    const auto id = graph.held_out.start[user] + static_cast<std::int64_t>(e);
    const float own = scores[wanted[e]], other = scores[judged_item(graph, user, id)];
    out.above += own > other ? 1.0 : own == other ? 0.5 : 0.0;
  }
  return out;
}

}  // namespace

Ranking judge(const LinkGraph& graph, LinkScores& scores, std::int64_t k, const Comm& comm) {
  constexpr std::size_t at_once = 64;
  std::vector<std::int32_t> judged;
  for (std::int32_t user = 0; user < graph.users; ++user)
    if (graph.held_out.length(user) > 0) judged.push_back(user);
  std::vector<double> table(3 * judged.size(), 0.0);
  std::vector<float> block(at_once * static_cast<std::size_t>(graph.items));
  for (std::size_t first = 0, turn = 0; first < judged.size(); first += at_once, ++turn) {
    if (static_cast<int>(turn % static_cast<std::size_t>(comm.size())) != comm.rank()) continue;
    const auto some = std::span(judged).subspan(first, std::min(at_once, judged.size() - first));
    scores.scores(some, block.data());
    for (std::size_t n = 0; n < some.size(); ++n) {
      const auto items = static_cast<std::size_t>(graph.items);
      const auto found = figures_of(graph, some[n], std::span<const float>(block).subspan(n * items, items), k);
      table[3 * (first + n)] = found.recall;
      table[3 * (first + n) + 1] = found.ndcg;
      table[3 * (first + n) + 2] = found.above;
    }
  }
  comm.sum(table);
  Ranking out;
  out.users = std::ssize(judged);
  for (std::size_t n = 0; n < judged.size(); ++n) {
    out.recall += table[3 * n];
    out.ndcg += table[3 * n + 1];
    out.auc += table[3 * n + 2];
  }
  out.recall /= static_cast<double>(out.users);
  out.ndcg /= static_cast<double>(out.users);
  out.auc /= static_cast<double>(graph.held_out.entries());
  return out;
}

}  // namespace cambium::graph
