#include "plugins/relate/datasets/roles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "core/base/key_error.hpp"
#include "plugins/relate/datasets/streams.hpp"

namespace cambium::relate {

/// Random folds of equal size (within one) of `count` items.
static std::vector<int> drawn_folds(std::int64_t count, const FoldKeys& keys) {
  std::vector<std::pair<double, std::int64_t>> order;
  for (std::int64_t k = 0; k < count; ++k)
    order.emplace_back(Random4(static_cast<std::uint64_t>(keys.seed), fold_stream, static_cast<std::uint64_t>(k),
                               static_cast<std::uint64_t>(keys.by))
                           .uniform(0),
                       k);
  std::sort(order.begin(), order.end());
  std::vector<int> out(count);
  for (std::int64_t k = 0; k < count; ++k) out[order[k].second] = static_cast<int>(k * keys.folds / count);
  return out;
}

std::vector<Role> roles_of(const PairTable& table, const FoldKeys& keys) {
  const auto n = std::ssize(table.entries);
  std::vector<int> fold;
  if (keys.by == FoldKeys::By::given) {
    for (const auto& entry : table.entries) {
      if (entry.fold < 0)
        throw KeyError("pairs.by.folds", "by",
                       fmt::format("{}: pairs have no folds; take by: pairs, compounds or targets", table.source));
      fold.push_back(entry.fold);
    }
  } else {
    const auto drawn = drawn_folds(keys.by == FoldKeys::By::compounds ? table.compounds.size()
                                   : keys.by == FoldKeys::By::targets ? table.targets.size()
                                                                      : n,
                                   keys);
    for (std::int64_t k = 0; k < n; ++k) {
      const auto& entry = table.entries[k];
      fold.push_back(drawn[static_cast<std::size_t>(keys.by == FoldKeys::By::compounds ? entry.compound
                                                    : keys.by == FoldKeys::By::targets ? entry.target
                                                                                       : k)]);
    }
  }
  std::vector<Role> out;
  for (const int f : fold)
    out.push_back(f == keys.fold ? Role::test : f == keys.validation ? Role::validation : Role::training);
  for (const auto role : {Role::training, Role::test})
    if (std::count(out.begin(), out.end(), role) == 0)
      throw KeyError("pairs.fold", "test_fold",
                     fmt::format("{}: fold {} leaves no pairs for {}; choose another fold", table.source, keys.fold,
                                 role == Role::training ? "training" : "tests"));
  if (keys.validation >= 0 && std::count(out.begin(), out.end(), Role::validation) == 0)
    throw KeyError("pairs.validation", "validation_fold",
                   fmt::format("{}: fold {} leaves no pairs for validation; choose another one, or none (-1)",
                               table.source, keys.validation));
  return out;
}

std::int64_t pairs_in_both(const PairTable& table, const std::vector<Role>& roles) {
  std::set<std::pair<int, int>> learned, both;
  for (std::size_t k = 0; k < roles.size(); ++k)
    if (roles[k] == Role::training) learned.emplace(table.entries[k].compound, table.entries[k].target);
  for (std::size_t k = 0; k < roles.size(); ++k) {
    const std::pair<int, int> pair{table.entries[k].compound, table.entries[k].target};
    if (roles[k] != Role::training && learned.contains(pair)) both.insert(pair);
  }
  return std::ssize(both);
}

}  // namespace cambium::relate
