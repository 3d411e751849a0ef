#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "plugins/relate/datasets/record_set.hpp"
#include "plugins/relate/datasets/roles.hpp"

namespace cambium::relate {

/// Which items users chose: readers and papers, groups and reagents, users and services.
struct ChoiceTable {
  using Lists = std::vector<std::vector<std::int32_t>>;  ///< items of each user, ascending
  std::string source;                                    ///< for messages
  std::int64_t users = 0, items = 0, tags = 0;
  std::int64_t known = 0;  ///< choices held for tests that stood in training or validation, too, and were left out
  Lists training, validation, test;
  Lists joined;   ///< what join_validation() put into training; it stands in `training`, too
  Lists tags_of;  ///< tags of each item, at least one; empty where items have none

  const Lists& part(Role role) const {
    return role == Role::training ? training : role == Role::test ? test : validation;
  }
  /// True if a user chose an item in a part.
  bool chose(Role role, std::int32_t user, std::int32_t item) const;
};

/// HDF5: attributes users, items; groups train, test and, where it is there, validation (which is taken out of train),
/// of each indptr (users + 1) and items: those of user u are items[indptr[u]] to items[indptr[u + 1] - 1]; choices of
/// tests that stand in another group, too, are left out; and where they are there tags of items, item_tags/indptr
/// (items + 1) and item_tags/items. InputError names file, array and user.
ChoiceTable read_choices(const std::string& path);

/// Choices held for validation become some of those for training.
void join_validation(ChoiceTable& table);

struct MadeChoices {
  std::int64_t users = 300, items = 200, tags = 12, each = 15;
  double fresh = 0.1;
  std::int64_t seed = 1;
};
/// Users choose by a known rule: users and tags have directions, items the sum of those of their two tags and a little
/// of their own; some items are liked by all. Of each user's choices a fifth is held for tests, a tenth for validation;
/// a share `fresh` of the items is chosen in tests alone. A function of the keys alone.
ChoiceTable make_choices(const MadeChoices& keys);

/// Records of one part with columns user, item and, where there are some, tags: of every choice one whose answer is 1,
/// and `others` of the same user with drawn items that he did not choose, whose answer is 0. For training nothing of
/// the other parts is known: an item that is held for tests may be drawn, and a new one, chosen in tests alone, is not;
/// for tests they are drawn among all items.
RecordSet choice_records(const std::shared_ptr<const ChoiceTable>& table, Role role, std::int64_t others,
                         std::int64_t seed);

/// Records of one user with every item, in their order, whose answers say what he chose in tests.
RecordSet candidate_records(const std::shared_ptr<const ChoiceTable>& table, std::int32_t user);

/// One record of each of these users, with the first item that he did not choose in training.
RecordSet user_records(const std::shared_ptr<const ChoiceTable>& table, std::span<const std::int32_t> users);

}  // namespace cambium::relate
