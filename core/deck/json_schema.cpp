#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/deck/reference.hpp"
#include "core/deck/resolve.hpp"

namespace cambium::deck {

namespace {

using Json = nlohmann::ordered_json;

class Writer {
 public:
  explicit Writer(const TypeTable& types) : types_(types) {}

  Json deck(const Schema& root, std::string_view title) {
    Json out;
    out["$schema"] = "https://json-schema.org/draft/2020-12/schema";
    out["title"] = title;
    out.update(object(root));
    // Writing a definition may add further ones.
    Json definitions = Json::object();
    for (std::size_t k = 0; k < kinds_.size(); ++k) {
      const std::string kind = kinds_[k];  // the list grows, and moves, meanwhile
      definitions[kind] = choice(kind);
    }
    if (!definitions.empty()) out["$defs"] = definitions;
    return out;
  }

 private:
  using Keys = std::vector<KeySpec>;

  const TypeEntry& entry_of(const std::string& kind, const std::string& name) const {
    const TypeEntry* found = types_.find(kind, name);
    if (!found) throw InternalError(fmt::format("{} '{}' is listed and cannot be found", kind, name));
    return *found;
  }

  /// The sets of keys that a map may have: one per type of every inlined choice.
  std::vector<Keys> alternatives(const Schema& schema) const {
    std::vector<Keys> all{{}};
    for (const auto& key : schema.keys) {
      if (key.form != ChoiceForm::inlined) {
        for (auto& keys : all) keys.push_back(key);
        continue;
      }
      std::vector<Keys> extended;
      for (const auto& keys : all)
        for (const auto& name : types_.names(key.choice_kind)) {
          const TypeEntry& type = entry_of(key.choice_kind, name);
          for (const auto& inner : alternatives(type.schema)) {
            Keys next = keys;
            next.push_back(named(key, type));
            next.insert(next.end(), inner.begin(), inner.end());
            extended.push_back(std::move(next));
          }
        }
      all = std::move(extended);
    }
    return all;
  }

  /// The key that names a type, as a word with one spelling.
  static KeySpec named(const KeySpec& key, const TypeEntry& type) {
    KeySpec out;
    out.name = key.name;
    out.doc = fmt::format("{}: {}", key.doc, type.doc);
    out.leaf = Leaf::option;
    out.options = {{type.name, 0}};
    for (const auto& former : type.formerly) out.options.push_back({former, 0});
    out.required = key.fallback.text() != type.name;
    return out;
  }

  Json object(const Schema& schema) {
    Json any = Json::array();
    for (const auto& keys : alternatives(schema)) any.push_back(object(keys));
    return any.size() == 1 ? any[0] : Json{{"oneOf", any}};
  }

  Json object(const Keys& keys) {
    Json properties = Json::object(), required = Json::array(), one_of_names = Json::array();
    for (const auto& key : keys) {
      properties[key.name] = property(key);
      for (const auto& former : key.formerly) properties[former] = deprecated(properties[key.name], key.name);
      if (!key.formerly.empty())
        one_of_names.push_back(one_name(key));
      else if (key.required)
        required.push_back(key.name);
    }
    Json out{{"type", "object"}, {"properties", properties}};
    if (!required.empty()) out["required"] = required;
    if (!one_of_names.empty()) out["allOf"] = one_of_names;
    out["additionalProperties"] = false;
    out["patternProperties"] = {{"^x-", Json::object()}};
    return out;
  }

  /// A key or type under its former name.
  static Json deprecated(Json now, const std::string& name) {
    now["description"] = fmt::format("called '{}' now", name);
    now["deprecated"] = true;
    return now;
  }

  /// That a key is given under one of its names only, and under one of them if it is required.
  static Json one_name(const KeySpec& key) {
    Json any = Json::array({{{"required", Json::array({key.name})}}});
    for (const auto& former : key.formerly) any.push_back({{"required", Json::array({former})}});
    if (!key.required) any.push_back({{"not", {{"anyOf", any}}}});
    return {{"oneOf", any}};
  }

  Json property(const KeySpec& key) {
    Json out;
    out["description"] = key.unit.empty() ? key.doc : fmt::format("{} ({})", key.doc, key.unit);
    Json type = value(key, 0);
    if (key.may_be_null) type = {{"anyOf", Json::array({type, {{"type", "null"}}})}};
    out.update(type);
    if (key.fallback.defined() && key.fallback.is_scalar()) out["default"] = default_value(key);
    if (!key.example.empty()) out["examples"] = Json::array({key.example});
    return out;
  }

  static Json default_value(const KeySpec& key) {
    const std::string& text = key.fallback.text();
    if (key.leaf == Leaf::boolean) return text == "true";
    const auto number = parse_number(text);
    if (key.leaf == Leaf::integer && number) return static_cast<long long>(*number);
    if ((key.leaf == Leaf::number || key.leaf == Leaf::expression) && number) return *number;
    return text;
  }

  Json value(const KeySpec& key, std::size_t depth) {
    if (depth == key.shapes.size()) return leaf(key);
    const Shape& shape = key.shapes[depth];
    const Json inner = value(key, depth + 1);
    if (shape.kind == Shape::Kind::dictionary)
      return {{"type", "object"}, {"additionalProperties", inner}, {"patternProperties", {{"^x-", Json::object()}}}};
    Json out{{"type", "array"}, {"items", inner}};
    if (shape.kind == Shape::Kind::array) out["minItems"] = out["maxItems"] = shape.count;
    return out;
  }

  Json leaf(const KeySpec& key) {
    switch (key.leaf) {
      case Leaf::boolean:
        return {{"type", "boolean"}};
      case Leaf::option:
        return {{"enum", key.option_names()}};
      case Leaf::text:
        if (!key.options.empty()) return {{"enum", key.option_names()}};
        return {{"type", Json::array({"string", "number", "boolean"})}};
      case Leaf::map:
        if (key.nested->keys.empty()) return {{"type", "object"}};  // any keys
        if (const auto* word = word_key(*key.nested))
          return {{"anyOf", Json::array({object(*key.nested), {{"enum", word->option_names()}}})}};
        return object(*key.nested);
      case Leaf::choice:
        return key.form == ChoiceForm::keyed ? keyed(key.choice_kind) : reference(key.choice_kind);
      case Leaf::integer:
        return limited({{"type", "integer"}}, key.bounds);
      case Leaf::expression:
        return limited({{"type", Json::array({"number", "string"})}}, key.bounds);
      case Leaf::number:
        break;
    }
    if (key.unit.empty()) return limited({{"type", "number"}}, key.bounds);
    // "1 fs": a number and a unit.
    Json out{{"type", Json::array({"number", "string"})}, {"pattern", "^\\s*[-+]?[0-9.][0-9.eE+-]*\\s*[^0-9\\s].*$"}};
    return limited(std::move(out), key.bounds);
  }

  static Json limited(Json out, const Bounds& bounds) {
    if (bounds.above) out["exclusiveMinimum"] = *bounds.above;
    if (bounds.at_least) out["minimum"] = *bounds.at_least;
    if (bounds.below) out["exclusiveMaximum"] = *bounds.below;
    if (bounds.at_most) out["maximum"] = *bounds.at_most;
    return out;
  }

  Json reference(const std::string& kind) {
    if (asked_.insert(kind).second) kinds_.push_back(kind);
    return {{"$ref", "#/$defs/" + kind}};
  }

  /// Stages within a stage (`loop`) are any map with one key: written out they would have no end.
  Json keyed(const std::string& kind) {
    if (!open_.insert(kind).second) return {{"type", "object"}, {"minProperties", 1}};
    Json properties = Json::object();
    for (const auto& name : types_.names(kind)) {
      const TypeEntry& type = entry_of(kind, name);
      properties[name] = {{"description", type.doc}};
      properties[name].update(object(type.schema));
      for (const auto& former : type.formerly) properties[former] = deprecated(properties[name], name);
    }
    open_.erase(kind);
    return {{"type", "object"},
            {"properties", properties},
            {"minProperties", 1},
            {"additionalProperties", false},
            {"patternProperties", {{"^x-", Json::object()}}}};
  }

  /// {type: name, ...} for every type of a kind, or the bare name of one that needs no keys.
  Json choice(const std::string& kind) {
    Json any = Json::array(), bare = Json::array();
    for (const auto& name : types_.names(kind)) {
      const TypeEntry& type = entry_of(kind, name);
      KeySpec discriminator;
      discriminator.name = "type";
      discriminator.doc = kind;
      for (Keys keys : alternatives(type.schema)) {
        keys.insert(keys.begin(), named(discriminator, type));
        any.push_back(object(keys));
      }
      bool needs_keys = false;
      for (const auto& key : type.schema.keys) needs_keys |= key.required;
      if (needs_keys) continue;
      bare.push_back(name);
      for (const auto& former : type.formerly) bare.push_back(former);
    }
    if (!bare.empty()) any.push_back({{"enum", bare}});
    if (const auto* number = number_key(types_, kind)) any.push_back(limited({{"type", "number"}}, number->bounds));
    return {{"oneOf", any}};
  }

  const TypeTable& types_;
  std::set<std::string> asked_;
  std::vector<std::string> kinds_;
  std::set<std::string> open_;  ///< kinds whose keyed form is being written
};

}  // namespace

std::string json_schema(const Schema& root, const TypeTable& types, std::string_view title) {
  return Writer(types).deck(root, title).dump(2) + "\n";
}

}  // namespace cambium::deck
