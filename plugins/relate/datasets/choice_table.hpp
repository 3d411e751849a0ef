#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "plugins/relate/datasets/record_set.hpp"
#include "plugins/relate/datasets/roles.hpp"

namespace cambium::relate {

/// User-item interactions (implicit feedback): readers and papers, groups and reagents, users and services.
struct ChoiceTable {
  using Lists = std::vector<std::vector<std::int32_t>>;  ///< items of each user, ascending
  std::string source;                                    ///< for messages
  std::string held_out = "test";                         ///< which interactions `test` holds, for messages
  std::int64_t users = 0, items = 0, tags = 0;
  std::int64_t known = 0;  ///< test interactions that are also in training or validation, omitted
  Lists training, validation, test;
  Lists joined;   ///< interactions added to training by join_validation(); also in `training`
  Lists tags_of;  ///< tags of each item, at least one; empty if items have none

  const Lists& part(Role role) const {
    return role == Role::training ? training : role == Role::test ? test : validation;
  }
  /// True if a user interacted with an item in a split.
  bool chose(Role role, std::int32_t user, std::int32_t item) const;
};

/// Reads HDF5: attributes users, items; groups train, test and, optionally, validation (which is removed from train),
/// each with indptr (users + 1) and items: those of user u are items[indptr[u]] to items[indptr[u + 1] - 1]; test
/// interactions that are also in another group are omitted. Optionally tags of items, item_tags/indptr (items + 1) and
/// item_tags/items. InputError names file, array and user.
ChoiceTable read_choices(const std::string& path);

/// Hash of lists, the same in every run; never 0.
std::uint64_t hash_of(const ChoiceTable::Lists& lists);

/// Adds the validation interactions to the training split.
void join_validation(ChoiceTable& table);

/// The table whose test split is the validation split, to choose settings: without the former test interactions.
ChoiceTable for_validation(const ChoiceTable& table);

struct MadeChoices {
  std::int64_t users = 300, items = 200, tags = 12, each = 15;
  double fresh = 0.1;
  std::int64_t seed = 1;
};
/// Users choose by a known rule: users and tags have directions, items the sum of those of their two tags and a small
/// one of their own; some items are popular with all users. Of each user's interactions a fifth is held out for tests,
/// a tenth for validation; a fraction `fresh` of the items occurs in tests only. Depends on the keys only.
ChoiceTable make_choices(const MadeChoices& keys);

/// Records of one split with columns user, item and, if there are any, tags: a positive (answer 1) for each
/// interaction, and `others` negatives (answer 0) with drawn items that the user did not choose. Training uses no
/// information from the other splits: an item held out for tests may be drawn, and an item that occurs in tests only is
/// not; for tests negatives are drawn from all items.
RecordSet choice_records(const std::shared_ptr<const ChoiceTable>& table, Role role, std::int64_t others,
                         std::int64_t seed);

/// Records of one user with every item, in their order; the answers are the user's test interactions.
RecordSet candidate_records(const std::shared_ptr<const ChoiceTable>& table, std::int32_t user);

/// One record for each of these users, with the first item without an interaction in training.
RecordSet user_records(const std::shared_ptr<const ChoiceTable>& table, std::span<const std::int32_t> users);

}  // namespace cambium::relate
