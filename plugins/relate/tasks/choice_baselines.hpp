#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "plugins/relate/datasets/choice_table.hpp"

namespace cambium::relate {

/// Number of users of each item in training.
std::vector<double> popularity(const ChoiceTable& table);

/// Scores of every item for a user.
using ItemScores = std::function<std::vector<double>(std::int32_t user)>;

/// Item scores without a network; it shares ownership of the data that it needs.
struct ChoiceBaseline {
  std::string method;
  ItemScores scores;
  std::string settings;  ///< selected settings, for the summary; "" if there are none
};

struct ChoiceBaselineKeys {
  std::int64_t best = 20;           ///< settings are selected by Recall@best
  std::vector<double> ease_lambda;  ///< empty: without EASE
  double ease_memory = 1e9;         ///< bytes; EASE is omitted if it needs more
};

/// Baselines in the order of a table, from the training split only, with settings selected on tuning_split():
/// - popularity: the number of users of an item;
/// - item-item cosine, sum over the user's items j of |U_i and U_j| / sqrt(|U_i| |U_j|) (sparse::ColumnCosines);
/// - the same with neighbours, shrinkage and powers (ItemNeighbours);
/// - EASE (Steck 2019), without `scores` if its matrix takes more than `ease_memory`;
/// - logistic regression on users, items and tags, with four negatives for each interaction (omitted above two million
///   records).
std::vector<ChoiceBaseline> choice_baselines(const std::shared_ptr<const ChoiceTable>& table,
                                             const ChoiceBaselineKeys& keys);

/// Metrics of a user's test items in a ranking of all items without earlier interactions.
struct ListScore {
  double recall = 0.0;      ///< fraction of these among the k best
  double ndcg = 0.0;        ///< sum of 1 / log2(1 + rank) over those among the k best, by that of the best order
  double recall_new = 0.0;  ///< recall of items without training interactions, if the user has any
  bool has_new = false;
  std::vector<std::int32_t> best;  ///< the k best, best first; ties by ascending index
};
/// `popular`: popularity() of the table.
ListScore judge_list(const ChoiceTable& table, std::span<const double> popular, std::int32_t user,
                     std::span<const double> scores, std::int64_t k);

}  // namespace cambium::relate
