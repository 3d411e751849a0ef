#pragma once
#include <string_view>

#include "core/deck/schema.hpp"

namespace cambium::deck {

/// Applies one "key.path[0].x=value" of the command line; the value is YAML without comments. Messages about it name
/// the command line. Throws InputError if there is no '=' or the path leads through something other than a map or list.
void override(Node& root, std::string_view assignment);

/// The same for a deck whose types are known: former names, in the path or in the value, become present ones, with
/// hints in `problems`. `root` has present names before and after.
void override(Node& root, std::string_view assignment, const Schema& schema, const TypeTable& types,
              Problems& problems);

/// Replaces the value at `path` ("stages[0].simulate.steps"), adding missing keys. `mark` is for messages.
Node with_value(const Node& root, std::string_view path, const Node& value, const Mark& mark);

/// Applies the map under the top-level note "x-test" (path: value), by which tests run a deck at a small size.
/// Nothing happens when the deck has none.
void apply_test_overrides(Node& root);
/// The same with former names becoming present ones.
void apply_test_overrides(Node& root, const Schema& schema, const TypeTable& types, Problems& problems);

}  // namespace cambium::deck
