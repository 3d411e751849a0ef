#include "core/deck/schema.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.hpp"

namespace cambium::deck {

namespace {

std::string leaf_text(const KeySpec& spec, bool plural) {
  switch (spec.leaf) {
    case Leaf::number:
      return plural ? "numbers" : "number";
    case Leaf::integer:
      return plural ? "whole numbers" : "whole number";
    case Leaf::boolean:
      return plural ? "true or false values" : "true or false";
    case Leaf::text:
      return plural ? "texts" : "text";
    case Leaf::option:
      return fmt::format("{}one of: {}", plural ? "values, each " : "", join(spec.option_names()));
    case Leaf::expression:
      return plural ? "numbers or expressions" : "number or expression";
    case Leaf::map:
      return plural ? "maps" : "map";
    case Leaf::choice:
      return spec.choice_kind + (plural ? "s" : "");
  }
  return {};
}

std::string shape_text(const KeySpec& spec, std::size_t depth, bool plural) {
  if (depth == spec.shapes.size()) return leaf_text(spec, plural);
  const std::string inner = shape_text(spec, depth + 1, true);
  const char* many = plural ? "s" : "";
  switch (spec.shapes[depth].kind) {
    case Shape::Kind::list:
      return fmt::format("list{} of {}", many, inner);
    case Shape::Kind::array:
      return fmt::format("list{} of {} {}", many, spec.shapes[depth].count, inner);
    case Shape::Kind::dictionary:
      return fmt::format("map{} from names to {}", many, inner);
  }
  return {};
}

}  // namespace

bool Bounds::allow(double v) const {
  return !(above && !(v > *above)) && !(at_least && !(v >= *at_least)) && !(below && !(v < *below)) &&
         !(at_most && !(v <= *at_most));
}

std::string Bounds::text() const {
  if (at_least && at_most) return fmt::format("from {} to {}", number_text(*at_least), number_text(*at_most));
  std::vector<std::string> parts;
  if (above) parts.push_back("> " + number_text(*above));
  if (at_least) parts.push_back(">= " + number_text(*at_least));
  if (below) parts.push_back("< " + number_text(*below));
  if (at_most) parts.push_back("<= " + number_text(*at_most));
  return join(parts, " and ");
}

std::string KeySpec::type_text() const { return shape_text(*this, 0, false); }

std::string KeySpec::expected(std::size_t depth) const {
  std::string text = shape_text(*this, depth, false);
  const bool bare = depth == shapes.size() && (leaf == Leaf::boolean || leaf == Leaf::text || leaf == Leaf::option);
  if (!bare) text = "a " + text;
  const std::string limits = bounds.text();
  if (!limits.empty()) text += (depth < shapes.size() ? ", each " : " ") + limits;
  if (!unit.empty()) text += (limits.empty() ? " in " : " ") + unit;
  return text;
}

std::string KeySpec::expected() const { return expected(0); }

std::vector<std::string> KeySpec::option_names() const {
  std::vector<std::string> out;
  for (const auto& option : options) out.push_back(option.name);
  return out;
}

const KeySpec* Schema::find(std::string_view name) const {
  for (const auto& key : keys)
    if (key.name == name) return &key;
  return nullptr;
}

std::string TypeTable::elsewhere(std::string_view, std::string_view) const { return {}; }

std::vector<std::string> known_keys(const Schema& schema, const Node& map, const TypeTable* types, bool& complete) {
  std::vector<std::string> out;
  for (const auto& key : schema.keys) out.push_back(key.name);
  for (const auto& key : schema.keys) {
    if (key.leaf != Leaf::choice || key.form != ChoiceForm::inlined) continue;
    const Node name = map.has(key.name) ? map[key.name] : key.fallback;
    const TypeEntry* type = types && name.is_scalar() ? types->find(key.choice_kind, name.text()) : nullptr;
    if (!type) {
      complete = false;
      continue;
    }
    for (auto& inner : known_keys(type->schema, map, types, complete)) out.push_back(std::move(inner));
  }
  return out;
}

const KeySpec* Schema::formerly(std::string_view name) const {
  for (const auto& key : keys)
    if (std::find(key.formerly.begin(), key.formerly.end(), name) != key.formerly.end()) return &key;
  return nullptr;
}

std::string unknown_type(const TypeTable& types, std::string_view kind, std::string_view name) {
  if (const auto where = types.elsewhere(kind, name); !where.empty())
    return fmt::format("{} '{}' {}", kind, name, where);
  return fmt::format("there is no {} '{}'{}", kind, name, suggestion(name, types.names(kind)));
}

}  // namespace cambium::deck
