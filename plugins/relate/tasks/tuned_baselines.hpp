#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "plugins/relate/tasks/choice_baselines.hpp"
#include "plugins/relate/tasks/item_neighbours.hpp"

namespace cambium::relate {

/// The split for choosing settings: its test is the validation split, even if join_validation() added that to training,
/// or, if there is none, a tenth of the training interactions of every user with two or more; its training is the rest.
/// `held_out` of the result says which. Does not use the test split of `table`.
ChoiceTable tuning_split(const ChoiceTable& table);

/// Mean Recall@k of at most 1000 evenly spaced users of the table's test.
double mean_recall(const ChoiceTable& table, const ItemScores& scores, std::int64_t k);

/// The keys with the highest mean_recall(), by coordinate search: user power 0, 0.5, 1, item power 0.3, 0.5, 0.7, 0.9,
/// shrink 0, 3, 10, 30, 100, neighbours 20, 100, 400, 1000.
NeighbourKeys tuned_neighbours(const ChoiceTable& split, std::int64_t k, double& recall);

/// The lambda of EASE with the highest mean_recall(); a single one is returned without evaluation, and `recall` is NaN.
double tuned_lambda(const std::shared_ptr<const ChoiceTable>& split, std::span<const double> lambdas, std::int64_t k,
                    double& recall);

}  // namespace cambium::relate
