#pragma once
// Type-independent readers used by describe.hpp: they check one node against a KeySpec.
#include <string>

#include "core/deck/expression.hpp"
#include "core/deck/problems.hpp"
#include "core/deck/schema.hpp"

namespace cambium::deck {

/// Receiver of problems, and the table of types (null: names of choices are not checked).
struct Reader {
  Problems& problems;
  const TypeTable* types = nullptr;
};

/// Each returns false, with a problem added, if the node does not match the spec.
bool read_number(const Node& node, const KeySpec& spec, Reader& reader, double& out);
bool read_integer(const Node& node, const KeySpec& spec, Reader& reader, long long& out);
bool read_boolean(const Node& node, const KeySpec& spec, Reader& reader, bool& out);
bool read_text(const Node& node, const KeySpec& spec, Reader& reader, std::string& out);
bool read_option(const Node& node, const KeySpec& spec, Reader& reader, long long& out);
bool read_expression(const Node& node, const KeySpec& spec, Reader& reader, Expression& out);

/// Fills the name of the type and the node of its own keys, and validates them.
bool read_choice(const Node& node, const KeySpec& spec, Reader& reader, std::string& type, Node& keys);

/// True for a list (of `count` items, unless 0); else the problem is added. `depth` counts the shapes around the node.
bool expect_list(const Node& node, const KeySpec& spec, std::size_t depth, std::size_t count, Reader& reader);
/// True for a map without repeated keys (nothing at all counts as an empty one).
bool expect_map(const Node& node, const KeySpec& spec, std::size_t depth, Reader& reader);

/// Reports repeated, unknown and missing keys of a map, or that the node is not a map.
bool check_keys(const Node& node, const Schema& schema, Reader& reader);

/// "found 'fast'", "found -1" (a number), "found a list", "found nothing".
std::string found(const Node& node);

}  // namespace cambium::deck
