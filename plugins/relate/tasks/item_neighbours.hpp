#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "plugins/relate/datasets/choice_table.hpp"

namespace cambium::relate {

/// Users of each item in training, ascending.
ChoiceTable::Lists users_of_items(const ChoiceTable& table);

/// Similarity of items: s_ji = c_ji / (n_j^a n_i^(1 - a) + shrink) with c_ji = sum of d_u^-b over the users u of both,
/// n interactions of an item, d interactions of a user, a `item_power`, b `user_power`. With a = 0.5, b = 0, shrink = 0
/// it is the cosine.
struct NeighbourKeys {
  double user_power = 0.0, item_power = 0.5, shrink = 10.0;
  std::int64_t neighbours = 100;  ///< kept for each item, the most similar ones; 0: all
  bool operator==(const NeighbourKeys&) const = default;
};
/// "100 neighbours, shrink 10, powers 0 (users) and 0.5 (items)"
std::string text_of(const NeighbourKeys& keys);

/// Item-based collaborative filtering (Sarwar et al. 2001; shrinkage: Bell and Koren 2007; powers: Aiolli 2013). The
/// score of item i is the sum of s_ji over the user's items j that are among the neighbours of i.
class ItemNeighbours {
 public:
  ItemNeighbours(const ChoiceTable& table, const NeighbourKeys& keys);
  /// Score of every item for a user of these items.
  std::vector<double> scores(std::span<const std::int32_t> chosen) const;

 private:
  struct Entry {
    std::int32_t item;
    float alike;
  };
  std::vector<std::vector<Entry>> of_;  ///< of each item j the items i with j as a neighbour
};

}  // namespace cambium::relate
