#include "core/deck/former_names.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.hpp"
#include "core/deck/resolve.hpp"

namespace cambium::deck {

namespace {

std::string hint_text(std::string_view former, std::string_view name) {
  return fmt::format("'{}' is called '{}' now", former, name);
}

/// The type that a scalar names; null for anything else.
const TypeEntry* type_named(const Node& name, const KeySpec& spec, const TypeTable* types) {
  return types && name.is_scalar() ? types->find(spec.choice_kind, name.text()) : nullptr;
}

bool has(const std::vector<Node::Entry>& entries, std::string_view key) {
  return std::any_of(entries.begin(), entries.end(), [&](const Node::Entry& entry) { return entry.key == key; });
}

/// Value of a key in a map, under whichever name; else the key's default.
Node given_for(const Node& map, const KeySpec& spec) {
  if (map.has(spec.name)) return map[spec.name];
  for (const auto& former : spec.formerly)
    if (map.has(former)) return map[former];
  return spec.fallback;
}

class Renaming {
 public:
  Renaming(const TypeTable* types, Problems& problems) : types_(types), problems_(problems) {}

  Node map(const Node& given, const Schema& schema) {
    if (!given.is_map()) return given;
    auto entries = given.entries();
    for (auto& entry : entries) {
      const KeySpec* spec = is_note(entry.key) ? nullptr : declared(given, entry.key, schema, types_);
      if (!spec) continue;
      if (entry.key != spec->name && !has(entries, spec->name)) {
        hint(entry.mark, entry.value.path(), entry.key, spec->name);
        entry.key = spec->name;
      }
      if (entry.key == spec->name) entry.value = value(entry.value, *spec, 0);
    }
    return Node::map(std::move(entries), given.mark()).at_path(given.path());
  }

 private:
  void hint(const Mark& mark, const std::string& path, std::string_view former, std::string_view name) {
    problems_.hint(mark, path, hint_text(former, name));
  }

  Node value(const Node& written, const KeySpec& spec, std::size_t depth) {
    const Node given = depth == spec.shapes.size() ? written_out(written, spec, types_) : written;
    if (given.is_list()) {  // alternatives stand for one value of the same shape
      std::vector<Node> items;
      const bool undecided = given.is_alternatives();
      for (const auto& item : given.items()) items.push_back(value(item, spec, undecided ? depth : depth + 1));
      return (undecided ? Node::alternatives(std::move(items), given.mark())
                        : Node::list(std::move(items), given.mark()))
          .at_path(given.path());
    }
    if (depth < spec.shapes.size()) return dictionary(given, spec, depth);
    if (spec.leaf == Leaf::map) return map(given, *spec.nested);
    if (spec.leaf != Leaf::choice) return given;
    if (spec.form == ChoiceForm::keyed) return keyed(given, spec);
    return given.is_map() ? nested(given, spec) : type_name(given, spec);
  }

  Node dictionary(const Node& given, const KeySpec& spec, std::size_t depth) {
    if (!given.is_map()) return given;
    auto entries = given.entries();
    for (auto& entry : entries)
      if (!is_note(entry.key)) entry.value = value(entry.value, spec, depth + 1);
    return Node::map(std::move(entries), given.mark()).at_path(given.path());
  }

  Node type_name(const Node& given, const KeySpec& spec) {
    const auto* type = type_named(given, spec, types_);
    if (!type || type->name == given.text()) return given;
    hint(given.mark(), given.path(), given.text(), type->name);
    return Node::scalar(type->name, given.quoted(), given.mark()).at_path(given.path());
  }

  /// {type: name, ...}
  Node nested(const Node& given, const KeySpec& spec) {
    const auto* type = type_named(given["type"], spec, types_);
    if (!type) return given;
    const Node name = type_name(given["type"], spec);
    auto entries = map(given, type->schema).entries();
    for (auto& entry : entries)
      if (entry.key == "type") entry.value = name;
    return Node::map(std::move(entries), given.mark()).at_path(given.path());
  }

  /// {name: {...}}
  Node keyed(const Node& given, const KeySpec& spec) {
    auto entries = given.entries();
    for (auto& entry : entries) {
      const auto* type = types_ && !is_note(entry.key) ? types_->find(spec.choice_kind, entry.key) : nullptr;
      if (!type) continue;
      if (type->name != entry.key) {
        hint(entry.mark, entry.value.path(), entry.key, type->name);
        entry.key = type->name;
      }
      entry.value = map(entry.value, type->schema);
    }
    return given.is_map() ? Node::map(std::move(entries), given.mark()).at_path(given.path()) : given;
  }

  const TypeTable* types_;
  Problems& problems_;
};

/// Current position of a path: in a map of this schema, or at a value of this key inside `depth` shapes.
struct Place {
  const Schema* schema = nullptr;
  const KeySpec* spec = nullptr;
  std::size_t depth = 0;
};

/// The position after resolving shapes and choices; empty if nothing there is declared.
Place inside(const Place& at, const Node& node, const TypeTable& types) {
  if (!at.spec || at.depth < at.spec->shapes.size()) return at;
  if (at.spec->leaf == Leaf::map) return {at.spec->nested.get(), nullptr, 0};
  if (at.spec->leaf != Leaf::choice || at.spec->form == ChoiceForm::inlined) return {};
  if (at.spec->form == ChoiceForm::keyed) return at;
  const auto* type = type_named(node["type"], *at.spec, &types);
  return type ? Place{&type->schema, nullptr, 0} : Place{};
}

/// Advances one step by `key`, renaming it if it is a former name.
Place step(const Place& at, std::string& key, const Node& node, const TypeTable& types) {
  if (at.spec && at.depth < at.spec->shapes.size()) return {nullptr, at.spec, at.depth + 1};
  if (at.spec) {  // a stage: its type is the key
    const auto* type = types.find(at.spec->choice_kind, key);
    if (!type) return {};
    key = type->name;
    return {&type->schema, nullptr, 0};
  }
  const auto* spec = at.schema ? declared(node, key, *at.schema, &types) : nullptr;
  if (!spec) return {};
  key = spec->name;
  return {nullptr, spec, 0};
}

}  // namespace

const KeySpec* declared(const Node& map, std::string_view name, const Schema& schema, const TypeTable* types) {
  if (const auto* spec = schema.find(name)) return spec;
  if (const auto* spec = schema.formerly(name)) return spec;
  for (const auto& spec : schema.keys) {
    if (spec.form != ChoiceForm::inlined) continue;
    const auto* type = type_named(given_for(map, spec), spec, types);
    const auto* inner = type ? declared(map, name, type->schema, types) : nullptr;
    if (inner) return inner;
  }
  return nullptr;
}

Node present_names(const Node& map, const Schema& schema, const TypeTable* types, Problems& problems) {
  return Renaming(types, problems).map(map, schema);
}

std::string present_path(const Node& root, std::string_view path, const Schema& schema, const TypeTable& types,
                         const Mark& mark, Problems& problems) {
  Place at{&schema, nullptr, 0};
  Node node = root;
  std::string out;
  std::string_view rest = path;
  while (!rest.empty() && (at.schema || at.spec)) {
    at = inside(at, node, types);
    if (rest.starts_with('[')) {
      const auto close = rest.find(']');
      const auto index = parse_number(rest.substr(1, close == std::string_view::npos ? close : close - 1));
      if (close == std::string_view::npos || !index || !(*index >= 0)) break;
      if (!node.is_alternatives()) at.schema = nullptr, ++at.depth;
      node = *index < static_cast<double>(node.size()) ? node.item(static_cast<std::size_t>(*index)) : Node{};
      out += rest.substr(0, close + 1);
      rest.remove_prefix(close + 1);
    } else {
      const auto end = std::min(rest.find_first_of(".["), rest.size());
      const std::string written(rest.substr(0, end));
      std::string key = written;
      at = step(at, key, node, types);
      if (key != written) problems.hint(mark, child_path(out, written), hint_text(written, key));
      out = child_path(out, key);
      node = node[key];
      rest.remove_prefix(end);
    }
    if (rest.starts_with('.')) rest.remove_prefix(1);
  }
  return rest.empty() ? out : out + (rest.starts_with('[') || out.empty() ? "" : ".") + std::string(rest);
}

}  // namespace cambium::deck
