#include "plugins/relate/tasks/choice_rivals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "plugins/relate/tasks/logistic.hpp"

namespace cambium::relate {

std::vector<double> popularity(const ChoiceTable& table) {
  std::vector<double> out(table.items, 0.0);
  for (const auto& list : table.training)
    for (const auto item : list) out[item] += 1.0;
  return out;
}

/// By who chose what: from the user's items to all users who chose them, to all that these chose.
static std::function<std::vector<double>(std::int32_t)> cosines(const std::shared_ptr<const ChoiceTable>& table) {
  auto chosen_by = std::make_shared<ChoiceTable::Lists>(static_cast<std::size_t>(table->items));
  for (std::size_t u = 0; u < table->training.size(); ++u)
    for (const auto item : table->training[u]) (*chosen_by)[item].push_back(static_cast<std::int32_t>(u));
  return [table, chosen_by](std::int32_t user) {
    std::vector<double> by_user(table->training.size(), 0.0), out(static_cast<std::size_t>(table->items), 0.0);
    const auto root = [&](std::int32_t item) { return std::sqrt(static_cast<double>((*chosen_by)[item].size())); };
    for (const auto j : table->training[user])
      for (const auto other : (*chosen_by)[j]) by_user[other] += 1.0 / root(j);
    for (std::size_t other = 0; other < by_user.size(); ++other)
      if (by_user[other] > 0.0)
        for (const auto i : table->training[other]) out[i] += by_user[other] / root(i);
    return out;
  };
}

std::vector<ChoiceRival> choice_rivals(const std::shared_ptr<const ChoiceTable>& table) {
  constexpr std::int64_t others = 4, most_records = 2'000'000;
  const auto popular = popularity(*table);
  std::vector<ChoiceRival> out{{"most popular", [popular](std::int32_t) { return popular; }},
                               {"cosines of items", cosines(table)}};
  double choices = 0.0;
  for (const double count : popular) choices += count;
  if (choices * static_cast<double>(1 + others) > static_cast<double>(most_records)) return out;
  const auto logistic = std::make_shared<const LogisticRegression>(choice_records(table, Role::training, others, 1));
  out.push_back(
      {fmt::format("logistic regression (lambda {:g})", logistic->lambda()),
       [table, logistic](std::int32_t user) { return logistic->probabilities(candidate_records(table, user)); }});
  return out;
}

ListScore judge_list(const ChoiceTable& table, std::span<const double> popular, std::int32_t user,
                     std::span<const double> scores, std::int64_t k) {
  ListScore out;
  std::vector<std::pair<double, std::int32_t>> order;
  for (std::int32_t i = 0; i < table.items; ++i)
    if (!table.chose(Role::training, user, i) && !table.chose(Role::validation, user, i))
      order.emplace_back(-scores[i], i);
  const auto kept = std::min<std::int64_t>(k, std::ssize(order));
  std::partial_sort(order.begin(), order.begin() + kept, order.end());
  const auto is_new = [&](std::int32_t item) { return popular[item] == 0.0; };
  const auto& wanted = table.test[user];
  double gain = 0.0, best = 0.0, found = 0.0, found_new = 0.0;
  for (std::int64_t r = 0; r < kept; ++r) {
    const auto item = order[r].second;
    const double value = 1.0 / std::log2(2.0 + static_cast<double>(r));
    out.best.push_back(item);
    if (r < std::ssize(wanted)) best += value;
    if (!table.chose(Role::test, user, item)) continue;
    found += 1.0;
    gain += value;
    if (is_new(item)) found_new += 1.0;
  }
  const auto fresh = static_cast<double>(std::count_if(wanted.begin(), wanted.end(), is_new));
  out.has_new = fresh > 0.0;
  if (wanted.empty()) return out;
  out.recall = found / static_cast<double>(wanted.size());
  out.ndcg = gain / best;
  if (out.has_new) out.recall_new = found_new / fresh;
  return out;
}

}  // namespace cambium::relate
