#pragma once
// Keys and types that an earlier version called otherwise. The declaration names the former name (Key::formerly,
// Registry::renamed); decks, command lines and stored runs that use it continue working, with a hint.
#include <string>
#include <string_view>

#include "core/deck/schema.hpp"

namespace cambium::deck {

/// The key of this name, present or former, in a map; those of inlined types, too. Null when there is none.
const KeySpec* declared(const Node& map, std::string_view name, const Schema& schema, const TypeTable* types);

/// The same map with every former name in it, at any depth, replaced by the present one; a hint about each is added to
/// `problems`. A key that is given under both names is left alone: reading refuses it. Without `types` only keys of
/// structs are checked. Keys of a type that a search has not picked yet are replaced once it has.
Node present_names(const Node& map, const Schema& schema, const TypeTable* types, Problems& problems);

/// The same for a key path of a command line ("stages[0].train.model.type"); `root`, whose names are present ones,
/// gives the types along the path. From the first unknown component on the path is unchanged.
std::string present_path(const Node& root, std::string_view path, const Schema& schema, const TypeTable& types,
                         const Mark& mark, Problems& problems);

}  // namespace cambium::deck
