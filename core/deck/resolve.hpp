#pragma once
#include <string>

#include "core/deck/schema.hpp"

namespace cambium::deck {

/// A valid map with everything that it leaves to defaults written out, in order of declaration, through structs, lists
/// and chosen types; notes are left out. The result is a deck that means the same. Values stay as they were written
/// ("1 fs"), so that nothing is rounded.
Node resolve(const Node& map, const Schema& schema, const TypeTable& types);

/// The same as YAML text.
std::string resolved(const Node& map, const Schema& schema, const TypeTable& types);

}  // namespace cambium::deck
