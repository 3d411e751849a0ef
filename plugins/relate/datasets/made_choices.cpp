#include <algorithm>
#include <cmath>

#include "plugins/relate/datasets/choice_table.hpp"
#include "plugins/relate/datasets/draw.hpp"

namespace cambium::relate {

namespace {

Draw draw_of(const MadeChoices& keys, std::uint64_t what) {
  return {made_choices_stream, static_cast<std::uint64_t>(keys.seed), what};
}

/// Deterministic preference of users for items: (users, items).
std::vector<double> likings(const MadeChoices& keys, const ChoiceTable& table) {
  constexpr std::int64_t kinds = 3;  // of taste
  const Draw of_user = draw_of(keys, 1), of_tag = draw_of(keys, 2), of_item = draw_of(keys, 3),
             common = draw_of(keys, 4);
  std::vector<double> out;
  for (std::int64_t u = 0; u < keys.users; ++u)
    for (std::int64_t i = 0; i < keys.items; ++i) {
      double sum = 0.6 * common.normal(i, 0);
      for (std::int64_t d = 0; d < kinds; ++d) {
        double x = 0.3 * of_item.normal(i, d);
        for (const auto tag : table.tags_of[i]) x += 0.8 * of_tag.normal(tag, d);
        sum += x * of_user.normal(u, d);
      }
      out.push_back(sum);
    }
  return out;
}

}  // namespace

ChoiceTable make_choices(const MadeChoices& keys) {
  const Draw tags = draw_of(keys, 5), chance = draw_of(keys, 6), fate = draw_of(keys, 7), age = draw_of(keys, 8);
  ChoiceTable out;
  out.source = "synthetic interactions";
  out.users = keys.users;
  out.items = keys.items;
  out.tags = keys.tags;
  for (std::int64_t i = 0; i < keys.items; ++i) {
    auto& own = out.tags_of.emplace_back();
    for (std::int64_t k = 0; k < 2; ++k) own.push_back(static_cast<std::int32_t>(tags.below(keys.tags, i, k)));
    std::sort(own.begin(), own.end());
    own.erase(std::unique(own.begin(), own.end()), own.end());
  }
  const auto liking = likings(keys, out);
  for (std::int64_t u = 0; u < keys.users; ++u) {
    // Gumbel top-k: draws items with probability proportional to exp(preference), without replacement.
    std::vector<std::pair<double, std::int32_t>> order;
    for (std::int64_t i = 0; i < keys.items; ++i)
      order.emplace_back(-liking[u * keys.items + i] + std::log(-std::log(std::max(chance.uniform(u, i), 1e-300))),
                         static_cast<std::int32_t>(i));
    std::sort(order.begin(), order.end());
    order.resize(std::min(keys.each, keys.items));
    auto &learned = out.training.emplace_back(), &looked_at = out.validation.emplace_back(),
         &tested = out.test.emplace_back();
    for (const auto& [key, item] : order) {
      const double x = fate.uniform(u, item);
      const bool fresh = age.uniform(item, 0) < keys.fresh;
      (fresh || x < 0.2 ? tested : x < 0.3 ? looked_at : learned).push_back(item);
    }
    for (auto* list : {&learned, &looked_at, &tested}) std::sort(list->begin(), list->end());
  }
  return out;
}

}  // namespace cambium::relate
