#include "plugins/relate/tasks/item_neighbours.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace cambium::relate {

ChoiceTable::Lists users_of_items(const ChoiceTable& table) {
  ChoiceTable::Lists out(table.items);
  for (std::size_t u = 0; u < table.training.size(); ++u)
    for (const auto item : table.training[u]) out[item].push_back(static_cast<std::int32_t>(u));
  return out;
}

std::string text_of(const NeighbourKeys& keys) {
  return fmt::format("{} neighbours, shrink {:g}, powers {:g} (users) and {:g} (items)",
                     keys.neighbours == 0 ? "all" : std::to_string(keys.neighbours), keys.shrink, keys.user_power,
                     keys.item_power);
}

ItemNeighbours::ItemNeighbours(const ChoiceTable& table, const NeighbourKeys& keys) : of_(table.items) {
  const auto chosen_by = users_of_items(table);
  std::vector<double> user(table.training.size()), as_source(table.items), as_target(table.items);
  for (std::size_t u = 0; u < user.size(); ++u)
    user[u] = std::pow(std::max(1.0, static_cast<double>(table.training[u].size())), -keys.user_power);
  for (std::size_t i = 0; i < chosen_by.size(); ++i) {
    const double n = std::max(1.0, static_cast<double>(chosen_by[i].size()));
    as_source[i] = std::pow(n, keys.item_power);
    as_target[i] = std::pow(n, 1.0 - keys.item_power);
  }
  std::vector<double> both(table.items, 0.0);
  std::vector<Entry> found;
  const auto more_alike = [](const Entry& a, const Entry& b) {
    return a.alike != b.alike ? a.alike > b.alike : a.item < b.item;
  };
  for (std::int32_t i = 0; i < table.items; ++i) {
    found.clear();
    for (const auto u : chosen_by[i])
      for (const auto j : table.training[u]) {
        if (both[j] == 0.0 && j != i) found.push_back({j, 0.0f});
        both[j] += user[u];
      }
    both[i] = 0.0;
    for (auto& entry : found) {
      entry.alike = static_cast<float>(both[entry.item] / (as_source[entry.item] * as_target[i] + keys.shrink));
      both[entry.item] = 0.0;
    }
    if (keys.neighbours > 0 && std::ssize(found) > keys.neighbours) {
      std::nth_element(found.begin(), found.begin() + keys.neighbours, found.end(), more_alike);
      found.resize(keys.neighbours);
    }
    for (const auto& entry : found) of_[entry.item].push_back({i, entry.alike});
  }
}

std::vector<double> ItemNeighbours::scores(std::span<const std::int32_t> chosen) const {
  std::vector<double> out(of_.size(), 0.0);
  for (const auto j : chosen)
    for (const auto& entry : of_[j]) out[entry.item] += static_cast<double>(entry.alike);
  return out;
}

}  // namespace cambium::relate
