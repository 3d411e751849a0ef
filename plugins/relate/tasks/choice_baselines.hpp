#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "plugins/relate/datasets/choice_table.hpp"

namespace cambium::relate {

/// How many users chose each item in training.
std::vector<double> popularity(const ChoiceTable& table);

/// Scores of every item for a user.
using ItemScores = std::function<std::vector<double>(std::int32_t user)>;

/// Scores of the items without a network; it shares what it needs of the table.
struct ChoiceBaseline {
  std::string method;
  ItemScores scores;
  std::string settings;  ///< how it was set, for the summary; "" where there is nothing to set
};

struct ChoiceBaselineKeys {
  std::int64_t best = 20;           ///< settings are chosen by Recall@best
  std::vector<double> ease_lambda;  ///< empty: without EASE
  double ease_memory = 1e9;         ///< bytes; EASE is left out above it
};

/// Baselines in the order of a table, from the training part alone, settings chosen on tuning_split():
/// - the number of users who chose an item;
/// - cosines of items by who chose them, sum over the user's items j of |U_i and U_j| / sqrt(|U_i| |U_j|) (Sarwar et
///   al. 2001);
/// - the same with neighbours, shrinkage and powers (ItemNeighbours);
/// - EASE (Steck 2019), without `scores` where its matrix takes more than `ease_memory`;
/// - logistic regression on users, items and tags, with four drawn items for each choice (left out above two million
///   records).
std::vector<ChoiceBaseline> choice_baselines(const std::shared_ptr<const ChoiceTable>& table,
                                             const ChoiceBaselineKeys& keys);

/// How well scores of all items find what a user chose in tests, among the items that he did not choose before.
struct ListScore {
  double recall = 0.0;      ///< share of these among the k best
  double ndcg = 0.0;        ///< sum of 1 / log2(1 + rank) over those among the k best, by that of the best order
  double recall_new = 0.0;  ///< recall of items that no user chose in training, where some of these are wanted
  bool has_new = false;
  std::vector<std::int32_t> best;  ///< the k best, best first; of equal scores the lower number first
};
/// `popular`: popularity() of the table.
ListScore judge_list(const ChoiceTable& table, std::span<const double> popular, std::int32_t user,
                     std::span<const double> scores, std::int64_t k);

}  // namespace cambium::relate
