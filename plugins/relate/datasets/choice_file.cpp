#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.hpp"
#include "core/io/hdf5/h5.hpp"
#include "plugins/relate/datasets/choice_table.hpp"

namespace cambium::relate {

namespace {

constexpr std::int64_t most = 1'000'000'000;

std::int64_t count_of(const io::File& file, const char* name) {
  const auto out = file.has_attribute(name) ? file.attribute<std::int64_t>(name) : 0;
  if (out < 1 || out > most)
    throw InputError(fmt::format("'{}' states {} {}; a file of interactions has an attribute {} from 1 to {}",
                                 file.file(), out, name, name, most));
  return out;
}

/// Lists of a group for each of `count` users or items, with indices below `end`.
ChoiceTable::Lists listed(const io::File& file, const std::string& name, const char* thing, std::int64_t count,
                          std::int64_t end) {
  const auto group = file.group(name);
  const auto start = group.read<std::vector<std::int64_t>>("indptr");
  const auto item = group.read<std::vector<std::int32_t>>("items");
  if (std::ssize(start) != count + 1 || start.front() != 0 || start.back() != std::ssize(item))
    throw InputError(fmt::format(
        "'{}': /{}/indptr must hold {} values from 0 to {}, the count of /{}/items; the file is cut short or damaged",
        file.file(), name, count + 1, item.size(), name));
  ChoiceTable::Lists out(static_cast<std::size_t>(count));
  for (std::size_t k = 0; k < out.size(); ++k) {
    if (start[k] > start[k + 1] || start[k + 1] > std::ssize(item))
      throw InputError(fmt::format("'{}': /{}/indptr falls at {} {}; it must rise", file.file(), name, thing, k));
    out[k].assign(item.begin() + start[k], item.begin() + start[k + 1]);
    for (const auto i : out[k])
      if (i < 0 || i >= end)
        throw InputError(fmt::format("'{}': /{}/items of {} {} holds {}; they are numbered 0 to {}", file.file(), name,
                                     thing, k, i, end - 1));
    std::sort(out[k].begin(), out[k].end());
    out[k].erase(std::unique(out[k].begin(), out[k].end()), out[k].end());
  }
  return out;
}

/// Removes the items of `others` from `lists`, user by user; returns their number.
std::int64_t take_out(const ChoiceTable::Lists& others, ChoiceTable::Lists& lists) {
  std::size_t out = 0;
  for (std::size_t u = 0; u < others.size(); ++u)
    out += std::erase_if(lists[u],
                         [&](std::int32_t i) { return std::binary_search(others[u].begin(), others[u].end(), i); });
  return static_cast<std::int64_t>(out);
}

}  // namespace

ChoiceTable read_choices(const std::string& path) {
  const auto file = io::File::open(path);
  ChoiceTable out;
  out.source = fmt::format("'{}'", path);
  out.users = count_of(file, "users");
  out.items = count_of(file, "items");
  for (const char* name : {"train", "test"})
    if (!file.is_group(name))
      throw InputError(fmt::format(
          "'{}' has no group {}; a file of interactions has the groups train and test, of each indptr and items", path,
          name));
  out.training = listed(file, "train", "user", out.users, out.items);
  out.test = listed(file, "test", "user", out.users, out.items);
  if (file.is_group("validation")) {
    out.validation = listed(file, "validation", "user", out.users, out.items);
    take_out(out.validation, out.training);
  }
  out.known = take_out(out.training, out.test) + take_out(out.validation, out.test);
  if (!file.is_group("item_tags")) return out;
  out.tags_of = listed(file, "item_tags", "item", out.items, most);
  std::int64_t named = 0;
  for (std::size_t k = 0; k < out.tags_of.size(); ++k) {
    if (out.tags_of[k].empty())
      throw InputError(
          fmt::format("'{}': item {} has no tag in /item_tags; give every item one, such as one for unknown", path, k));
    out.tags = std::max<std::int64_t>(out.tags, out.tags_of[k].back() + 1);
    named += std::ssize(out.tags_of[k]);
  }
  if (out.tags > 1000 + 100 * named)  // each has a row of a table
    throw InputError(
        fmt::format("'{}': /item_tags/items holds {}, but names {} tags in all; number them from 0 without gaps", path,
                    out.tags - 1, named));
  return out;
}

}  // namespace cambium::relate
