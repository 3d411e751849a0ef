#pragma once
#include <cstdint>
#include <vector>

#include "plugins/relate/datasets/pair_table.hpp"

namespace cambium::relate {

enum class Role { training, validation, test };

/// Which pairs are kept for tests.
struct FoldKeys {
  enum class By { given, pairs, compounds, targets };
  By by = By::pairs;
  std::int64_t folds = 6, fold = 5;
  std::int64_t validation = -1;  ///< another fold, whose pairs are only looked at; none below 0
  std::int64_t seed = 1;
};

/// The role of every pair. Folds of compounds (targets) keep all pairs of a compound together, so that a test meets
/// none that was trained on. InputError when a part is empty, or the table names no folds but `given` was asked for.
std::vector<Role> roles_of(const PairTable& table, const FoldKeys& keys);

/// How many different pairs of compound and target stand in training and in test, too.
std::int64_t pairs_in_both(const PairTable& table, const std::vector<Role>& roles);

}  // namespace cambium::relate
