#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "core/deck/node.hpp"

namespace cambium::deck {

/// A key that has another value in a second deck.
struct Difference {
  std::string path;      ///< "stages[0].simulate.steps"
  std::string from, to;  ///< in one line; "absent" where a deck lacks it
  bool scalar = false;   ///< a single value in both, so that `path=to` on a command line changes it
};

/// Differences between two values, leaf by leaf, in the order of the first; notes are left out and numbers are compared
/// by value. Lists of scalars are compared as one value.
std::vector<Difference> differences(const Node& first, const Node& second);

/// True if `pattern` ("checkpoint", "output[].every") names a key or one that contains it; "[]" matches any index.
bool covers(std::string_view pattern, std::string_view path);

}  // namespace cambium::deck
