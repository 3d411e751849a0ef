#include "plugins/relate/tasks/tuned_baselines.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "plugins/relate/tasks/ease.hpp"

namespace cambium::relate {

/// A tenth of each list, at offsets that vary between lists so that users with few items contribute, too.
static ChoiceTable::Lists every_tenth(const ChoiceTable::Lists& lists) {
  ChoiceTable::Lists out(lists.size());
  for (std::size_t u = 0; u < lists.size(); ++u)
    for (std::size_t k = 0; k < lists[u].size() && lists[u].size() > 1; ++k)
      if ((k + u) % 10 == 0) out[u].push_back(lists[u][k]);
  return out;
}

static bool holds_any(const ChoiceTable::Lists& lists) {
  return std::any_of(lists.begin(), lists.end(), [](const auto& list) { return !list.empty(); });
}

ChoiceTable tuning_split(const ChoiceTable& table) {
  ChoiceTable out;
  out.source = table.source;
  out.users = table.users;
  out.items = table.items;
  out.training = table.training;
  const bool apart = holds_any(table.validation);
  const bool joined = !apart && holds_any(table.joined);
  out.test = apart ? table.validation : joined ? table.joined : every_tenth(table.training);
  out.held_out = apart || joined ? "validation" : "a tenth of training";
  out.validation.resize(out.training.size());
  if (apart) return out;
  for (std::size_t u = 0; u < out.training.size(); ++u)
    std::erase_if(out.training[u],
                  [&](auto item) { return std::binary_search(out.test[u].begin(), out.test[u].end(), item); });
  return out;
}

double mean_recall(const ChoiceTable& table, const ItemScores& scores, std::int64_t k) {
  constexpr std::size_t most = 1000;
  std::vector<std::int32_t> users;
  for (std::size_t u = 0; u < table.test.size(); ++u)
    if (!table.test[u].empty()) users.push_back(static_cast<std::int32_t>(u));
  const auto popular = popularity(table);
  const std::size_t judged = std::min(most, users.size());
  double sum = 0.0;
  for (std::size_t n = 0; n < judged; ++n) {
    const auto user = users[n * users.size() / judged];
    sum += judge_list(table, popular, user, scores(user), k).recall;
  }
  return judged > 0 ? sum / static_cast<double>(judged) : 0.0;
}

NeighbourKeys tuned_neighbours(const ChoiceTable& split, std::int64_t k, double& recall) {
  std::vector<std::pair<NeighbourKeys, double>> tried;
  const auto value = [&](const NeighbourKeys& keys) {
    for (const auto& [known, found] : tried)
      if (known == keys) return found;
    const ItemNeighbours neighbours(split, keys);
    const double found = mean_recall(
        split, [&](std::int32_t user) { return neighbours.scores(split.training[user]); }, k);
    tried.emplace_back(keys, found);
    return found;
  };
  NeighbourKeys best;
  recall = value(best);
  const auto take = [&](auto NeighbourKeys::*key, auto values) {
    for (const auto one : values) {
      auto keys = best;
      keys.*key = one;
      const double found = value(keys);
      if (!(found > recall)) continue;
      recall = found;
      best = keys;
    }
  };
  for (NeighbourKeys before{.neighbours = -1}; !(before == best);) {
    before = best;
    take(&NeighbourKeys::user_power, std::vector{0.0, 0.5, 1.0});
    take(&NeighbourKeys::item_power, std::vector{0.3, 0.5, 0.7, 0.9});
    take(&NeighbourKeys::shrink, std::vector{0.0, 3.0, 10.0, 30.0, 100.0});
    take(&NeighbourKeys::neighbours, std::vector<std::int64_t>{20, 100, 400, 1000});
  }
  return best;
}

double tuned_lambda(const std::shared_ptr<const ChoiceTable>& split, std::span<const double> lambdas, std::int64_t k,
                    double& recall) {
  recall = std::numeric_limits<double>::quiet_NaN();
  if (lambdas.size() == 1) return lambdas.front();
  double best = 0.0;
  recall = -1.0;
  for (const double lambda : lambdas) {
    const Ease ease(split, lambda);
    const double found = mean_recall(
        *split, [&](std::int32_t user) { return ease.scores(user); }, k);
    if (found <= recall) continue;
    recall = found;
    best = lambda;
  }
  return best;
}

}  // namespace cambium::relate
