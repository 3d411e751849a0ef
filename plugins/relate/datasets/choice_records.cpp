#include <algorithm>

#include "core/codec/packed.hpp"
#include "plugins/relate/datasets/choice_table.hpp"
#include "plugins/relate/datasets/streams.hpp"

namespace cambium::relate {

bool ChoiceTable::chose(Role role, std::int32_t user, std::int32_t item) const {
  const auto& lists = part(role);
  if (lists.empty()) return false;
  const auto& list = lists[user];
  return std::binary_search(list.begin(), list.end(), item);
}

std::uint64_t hash_of(const ChoiceTable::Lists& lists) {
  std::uint64_t out = lowp::checksum({});
  for (const auto& list : lists) {
    const std::int64_t size = std::ssize(list);
    out = lowp::checksum(std::as_bytes(std::span(&size, 1)), out);
    out = lowp::checksum(std::as_bytes(std::span(list)), out);
  }
  return std::max<std::uint64_t>(out, 1);
}

void join_validation(ChoiceTable& table) {
  for (std::size_t u = 0; u < table.validation.size(); ++u) {
    auto& list = table.training[u];
    list.insert(list.end(), table.validation[u].begin(), table.validation[u].end());
    std::sort(list.begin(), list.end());
  }
  table.joined = std::move(table.validation);
  table.validation.clear();
}

ChoiceTable for_validation(const ChoiceTable& table) {
  ChoiceTable out = table;
  out.test = std::move(out.validation);
  out.held_out = "validation";
  out.validation.clear();
  return out;
}

namespace {

/// Records of user-item pairs, added one by one.
class Filled {
 public:
  explicit Filled(const std::shared_ptr<const ChoiceTable>& table) : table_(*table) {
    out_.source = table->source;
    out_.answer = "chosen";
    out_.columns = {{"user", table->users}, {"item", table->items}};
    if (!table->tags_of.empty()) out_.columns.push_back({"tags", table->tags});
    out_.choices = table;
    auto numbers = std::make_shared<std::vector<std::int32_t>>();
    for (std::int64_t k = 0; k < std::max(table->users, table->items); ++k)
      numbers->push_back(static_cast<std::int32_t>(k));
    numbers_ = numbers;
    out_.stored.push_back(numbers_);
  }
  void add(std::int32_t user, std::int32_t item, bool chosen) {
    const std::span<const std::int32_t> all(*numbers_);
    out_.bag.push_back(all.subspan(user, 1));
    out_.bag.push_back(all.subspan(item, 1));
    if (!table_.tags_of.empty()) out_.bag.push_back(table_.tags_of[item]);
    out_.place.push_back(std::ssize(out_.answers));
    out_.answers.push_back(chosen ? 1.0 : 0.0);
  }
  RecordSet take() { return std::move(out_); }

 private:
  const ChoiceTable& table_;  // kept by out_.choices
  RecordSet out_;
  std::shared_ptr<const std::vector<std::int32_t>> numbers_;
};

/// Candidates for negatives: all items, or, for training, those with training interactions. Drawing new items as
/// training negatives would reveal that they exist without interactions.
std::vector<std::int32_t> drawn_among(const ChoiceTable& table, Role role) {
  std::vector<std::int32_t> out;
  if (role == Role::test) {
    for (std::int32_t i = 0; i < table.items; ++i) out.push_back(i);
    return out;
  }
  for (const auto& list : table.training) out.insert(out.end(), list.begin(), list.end());
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

/// True if a user has chosen an item according to the training split only (for training) or to all splits.
bool known(const ChoiceTable& table, Role role, std::int32_t user, std::int32_t item) {
  if (role == Role::training) return table.chose(Role::training, user, item);
  return table.chose(Role::training, user, item) || table.chose(Role::validation, user, item) ||
         table.chose(Role::test, user, item);
}

}  // namespace

RecordSet choice_records(const std::shared_ptr<const ChoiceTable>& table, Role role, std::int64_t others,
                         std::int64_t seed) {
  constexpr std::uint64_t most_draws = 100;  // a user of almost all items gets some of these
  Filled out(table);
  const auto items = drawn_among(*table, role);
  std::uint64_t number = static_cast<std::uint64_t>(role) << 60;
  if (items.empty()) return out.take();
  for (std::size_t u = 0; u < table->part(role).size(); ++u)
    for (const auto item : table->part(role)[u]) {
      const auto user = static_cast<std::int32_t>(u);
      out.add(user, item, true);
      for (std::int64_t k = 0; k < others; ++k, ++number) {
        std::int32_t drawn = 0;
        for (std::uint64_t turn = 0; turn < most_draws; ++turn) {
          const Random4 draw(static_cast<std::uint64_t>(seed), other_items_stream, number, turn);
          drawn = items[draw.uniform(0) * static_cast<double>(items.size())];
          if (!known(*table, role, user, drawn)) break;
        }
        out.add(user, drawn, false);
      }
    }
  return out.take();
}

RecordSet candidate_records(const std::shared_ptr<const ChoiceTable>& table, std::int32_t user) {
  Filled out(table);
  for (std::int32_t item = 0; item < table->items; ++item) out.add(user, item, table->chose(Role::test, user, item));
  return out.take();
}

RecordSet user_records(const std::shared_ptr<const ChoiceTable>& table, std::span<const std::int32_t> users) {
  Filled out(table);
  for (const auto user : users) {
    std::int32_t item = 0;
    while (item + 1 < table->items && table->chose(Role::training, user, item)) ++item;
    out.add(user, item, false);
  }
  return out.take();
}

}  // namespace cambium::relate
