#pragma once
// Reference documentation, generated from the declarations that are used for reading.
#include <span>
#include <string>

#include "core/deck/schema.hpp"

namespace cambium::deck {

/// A Markdown table of the keys: key, type, unit, default, allowed values, meaning. Keys of structs follow their struct
/// as `nested.a` (`items[].a` within lists).
std::string markdown(const Schema& schema);

/// A section for one type: heading, description, plugin, table.
std::string markdown(const TypeEntry& type);

/// Sections for all types of these kinds.
std::string markdown(const TypeTable& types, std::span<const std::string> kinds);

/// JSON schema (draft 2020-12) of a deck whose top level is `root`, from which editors complete keys and show their
/// meaning. Every kind of choice becomes a definition with one alternative per type.
std::string json_schema(const Schema& root, const TypeTable& types, std::string_view title);

}  // namespace cambium::deck
