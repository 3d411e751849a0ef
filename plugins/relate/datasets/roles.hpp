#pragma once
#include <cstdint>
#include <vector>

#include "plugins/relate/datasets/pair_table.hpp"

namespace cambium::relate {

enum class Role { training, validation, test };

/// Selection of the test pairs.
struct FoldKeys {
  enum class By { given, pairs, compounds, targets };
  By by = By::pairs;
  std::int64_t folds = 6, fold = 5;
  std::int64_t validation = -1;  ///< another fold, used for validation only; none below 0
  std::int64_t seed = 1;
};

/// The role of every pair. Folds of compounds (targets) keep all pairs of a compound together, so that tests contain
/// only unseen ones. InputError if a split is empty, or if `given` was requested and the table has no folds.
std::vector<Role> roles_of(const PairTable& table, const FoldKeys& keys);

/// Number of distinct pairs of compound and target that are in both training and test.
std::int64_t pairs_in_both(const PairTable& table, const std::vector<Role>& roles);

}  // namespace cambium::relate
