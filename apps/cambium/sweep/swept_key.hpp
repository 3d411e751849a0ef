#pragma once
#include <string>
#include <vector>

#include "apps/cambium/sweep/values.hpp"
#include "core/deck/schema.hpp"

namespace cambium {

/// A key that differs from run to run.
struct SweptKey {
  std::string path;                ///< "stages[0].simulate.rayleigh"
  std::string name;                ///< the last words of the path that tell it from the other keys: "rayleigh"
  std::string unit;                ///< of its numbers as `numbers` gives them; empty for pure numbers and for words
  std::vector<deck::Node> values;  ///< as they were written
  OverText over;

  /// The values as numbers in `unit`; empty unless all of them are numbers.
  std::vector<double> numbers() const;
  /// True if its values are seeds, over which results are averaged: the last word of its path is "seed".
  bool is_seed() const;
};

/// The declaration of the key at `path` of a resolved deck, through maps, lists and chosen types; its unit decides what
/// the numbers of a sweep are measured in. None where the deck has no such key or no declaration covers it.
const deck::KeySpec* find_key(const deck::Schema& schema, const deck::Node& resolved, const std::string& path,
                              const deck::TypeTable& types);

/// Gives every key its short name and checks that no value stands twice and that no key stands twice or lies in
/// another. InputError points into the text of the key.
void finish_keys(std::vector<SweptKey>& keys);

}  // namespace cambium
