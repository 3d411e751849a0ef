#pragma once
#include <string>
#include <vector>

#include "apps/cambium/sweep/values.hpp"
#include "core/deck/schema.hpp"

namespace cambium {

/// A key that differs from run to run.
struct SweptKey {
  std::string path;                ///< "stages[0].simulate.rayleigh"
  std::string name;                ///< the last components of the path that distinguish it: "rayleigh"
  std::string unit;                ///< of the values returned by `numbers`; empty for pure numbers and for words
  std::vector<deck::Node> values;  ///< as they were written
  OverText over;

  /// The values as numbers in `unit`; empty unless all of them are numbers.
  std::vector<double> numbers() const;
  /// True if its values are seeds, over which results are averaged: the last word of its path is "seed".
  bool is_seed() const;
};

/// The declaration of the key at `path` of a resolved deck, through maps, lists and chosen types; its unit becomes that
/// of the sweep's values. None if the deck has no such key or no declaration covers it.
const deck::KeySpec* find_key(const deck::Schema& schema, const deck::Node& resolved, const std::string& path,
                              const deck::TypeTable& types);

/// Gives every key its short name and checks that no value and no key occurs twice and that no key is inside another.
/// InputError points into the text of the key.
void finish_keys(std::vector<SweptKey>& keys);

}  // namespace cambium
