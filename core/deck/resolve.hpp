#pragma once
#include <string>

#include "core/deck/schema.hpp"

namespace cambium::deck {

/// A valid map with all defaults written out, in order of declaration, through structs, lists and chosen types; notes
/// are left out. The result is an equivalent deck. Values keep their text ("1 fs"), so that nothing is rounded.
Node resolve(const Node& map, const Schema& schema, const TypeTable& types);

/// The same as YAML text.
std::string resolved(const Node& map, const Schema& schema, const TypeTable& types);

/// Meaning of a plain word in place of a block: its key `type`, one of several words, so that {attention: linear} is
/// {attention: {type: linear}}. Null if the block has no such key.
const KeySpec* word_key(const Schema& block);

/// Meaning of a plain number in place of a type: the only key of this kind's type `constant`, a number, so that
/// {learning_rate: 1e-3} is {learning_rate: {type: constant, start: 1e-3}}. Null if there is no such type.
const KeySpec* number_key(const TypeTable& types, std::string_view kind);

/// A value inside all its lists and maps, with such a short form written out; any other value as it is.
Node written_out(const Node& given, const KeySpec& spec, const TypeTable* types);

}  // namespace cambium::deck
