#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "core/deck/node.hpp"

namespace cambium {

/// A type often reads its formulas when it is made or begins, and what it throws (deck::ExpressionError, or an
/// InputError around its text) knows the formula alone. This looks for the formula among the keys of the deck: the
/// message with file:line:column of the character at fault and the key's path in front; none where the message is about
/// no formula of theirs.
std::optional<std::string> placed_formula(std::string_view message, const deck::Node& keys);

}  // namespace cambium
