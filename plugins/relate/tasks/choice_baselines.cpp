#include "plugins/relate/tasks/choice_baselines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/sparse/column_cosines.hpp"
#include "plugins/relate/tasks/ease.hpp"
#include "plugins/relate/tasks/item_neighbours.hpp"
#include "plugins/relate/tasks/logistic.hpp"
#include "plugins/relate/tasks/tuned_baselines.hpp"

namespace cambium::relate {

std::vector<double> popularity(const ChoiceTable& table) {
  std::vector<double> out(table.items, 0.0);
  for (const auto& list : table.training)
    for (const auto item : list) out[item] += 1.0;
  return out;
}

static ItemScores cosines(const ChoiceTable& table) {
  sparse::Csr<float> training;
  training.rows = std::ssize(table.training);
  training.columns = table.items;
  for (const auto& list : table.training) {
    training.column.insert(training.column.end(), list.begin(), list.end());
    training.start.push_back(std::ssize(training.column));
  }
  training.value.assign(training.column.size(), 1.0f);
  const auto found = std::make_shared<const sparse::ColumnCosines>(std::move(training));
  return [found, items = table.items](std::int32_t user) {
    std::vector<double> out(static_cast<std::size_t>(items));
    found->scores(user, out);
    return out;
  };
}

static std::string tuned_on(const ChoiceTable& split, std::int64_t best, double recall) {
  return std::isnan(recall) ? "" : fmt::format("; Recall@{} {:.4f} on {}", best, recall, split.held_out);
}

static ChoiceBaseline neighbours(const std::shared_ptr<const ChoiceTable>& table, const ChoiceTable& split,
                                 std::int64_t best) {
  double recall = 0.0;
  const auto keys = tuned_neighbours(split, best, recall);
  const auto found = std::make_shared<const ItemNeighbours>(*table, keys);
  return {"item neighbours", [table, found](std::int32_t user) { return found->scores(table->training[user]); },
          text_of(keys) + tuned_on(split, best, recall)};
}

static ChoiceBaseline ease(const std::shared_ptr<const ChoiceTable>& table,
                           const std::shared_ptr<const ChoiceTable>& split, const ChoiceBaselineKeys& keys) {
  ChoiceBaseline out{"EASE", nullptr, ""};
  if (const double bytes = Ease::bytes(*table); bytes > keys.ease_memory) {
    constexpr double giga = 1e9;
    out.settings = fmt::format("left out: its matrix of {} rows takes {:.3g} GB, more than ease_memory ({:.3g} GB)",
                               Ease::rows(*table), bytes / giga, keys.ease_memory / giga);
    return out;
  }
  double recall = 0.0;
  const double lambda = tuned_lambda(split, keys.ease_lambda, keys.best, recall);
  const auto found = std::make_shared<const Ease>(table, lambda);
  out.scores = [found](std::int32_t user) { return found->scores(user); };
  out.settings = fmt::format("lambda {:g}{}", lambda, tuned_on(*split, keys.best, recall));
  return out;
}

static void add_logistic(const std::shared_ptr<const ChoiceTable>& table, double choices,
                         std::vector<ChoiceBaseline>& out) {
  constexpr std::int64_t others = 4, most_records = 2'000'000;
  if (choices * static_cast<double>(1 + others) > static_cast<double>(most_records)) return;
  const auto logistic = std::make_shared<const LogisticRegression>(choice_records(table, Role::training, others, 1));
  out.push_back(
      {fmt::format("logistic regression (lambda {:g})", logistic->lambda()),
       [table, logistic](std::int32_t user) { return logistic->probabilities(candidate_records(table, user)); }, ""});
}

std::vector<ChoiceBaseline> choice_baselines(const std::shared_ptr<const ChoiceTable>& table,
                                             const ChoiceBaselineKeys& keys) {
  const auto popular = popularity(*table);
  const auto split = std::make_shared<const ChoiceTable>(tuning_split(*table));
  std::vector<ChoiceBaseline> out{{"most popular", [popular](std::int32_t) { return popular; }, ""},
                                  {"item-item cosine", cosines(*table), ""},
                                  neighbours(table, *split, keys.best)};
  if (!keys.ease_lambda.empty()) out.push_back(ease(table, split, keys));
  add_logistic(table, std::accumulate(popular.begin(), popular.end(), 0.0), out);
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
