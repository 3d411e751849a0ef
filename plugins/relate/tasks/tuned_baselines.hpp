#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "plugins/relate/tasks/choice_baselines.hpp"
#include "plugins/relate/tasks/item_neighbours.hpp"

namespace cambium::relate {

/// The table to choose settings by: its test is the part for validation, whether or not join_validation() put that into
/// training, or, where there is none, a tenth of the training choices of every user with two or more; its training is
/// the rest. Tests of `table` play no part.
ChoiceTable tuning_split(const ChoiceTable& table);

/// Mean Recall@k of at most 1000 users of the table's test, evenly spaced.
double mean_recall(const ChoiceTable& table, const ItemScores& scores, std::int64_t k);

/// The keys of highest mean_recall(), by coordinate search: user power 0, 0.5, 1, item power 0.3, 0.5, 0.7, 0.9, shrink
/// 0, 3, 10, 30, 100, neighbours 20, 100, 400, 1000.
NeighbourKeys tuned_neighbours(const ChoiceTable& split, std::int64_t k, double& recall);

/// The lambda of highest mean_recall() of EASE; with a single one nothing is tried, and `recall` is NaN.
double tuned_lambda(const std::shared_ptr<const ChoiceTable>& split, std::span<const double> lambdas, std::int64_t k,
                    double& recall);

}  // namespace cambium::relate
