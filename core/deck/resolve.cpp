#include "core/deck/resolve.hpp"

#include "core/base/text.hpp"

namespace cambium::deck {

namespace {

using Entries = std::vector<Node::Entry>;

Entries filled(const Node& map, const Schema& schema, const TypeTable& types);

Node filled_choice(const Node& node, const KeySpec& spec, const TypeTable& types) {
  std::string name = node.text();
  Node keys = node;
  if (spec.form == ChoiceForm::keyed) {
    const Node own = node.without(is_note);
    name = own.entries().at(0).key;
    keys = own[name];
  } else if (node.is_map()) {
    if (node["type"].is_alternatives()) return node;
    name = node["type"].text();
  }
  const TypeEntry* type = types.find(spec.choice_kind, name);
  if (!type) throw InternalError(unknown_type(types, spec.choice_kind, name));
  Entries entries = filled(keys, type->schema, types);
  if (spec.form == ChoiceForm::keyed) return Node::map({{name, Node::map(std::move(entries))}});
  entries.insert(entries.begin(), Node::Entry{"type", Node::scalar(name)});
  return Node::map(std::move(entries));
}

Node filled_value(const Node& node, const KeySpec& spec, std::size_t depth, const TypeTable& types) {
  if (node.is_alternatives()) return node;  // each is filled in once a search has picked it
  if (node.is_null() && spec.may_be_null) return node;
  if (depth < spec.shapes.size()) {
    std::vector<Node> items;
    Entries entries;
    for (const auto& item : node.items()) items.push_back(filled_value(item, spec, depth + 1, types));
    for (const auto& entry : node.entries())
      if (!is_note(entry.key)) entries.push_back({entry.key, filled_value(entry.value, spec, depth + 1, types)});
    return spec.shapes[depth].kind == Shape::Kind::dictionary ? Node::map(std::move(entries))
                                                              : Node::list(std::move(items));
  }
  if (spec.leaf == Leaf::map) return Node::map(filled(node, *spec.nested, types));
  return spec.leaf == Leaf::choice ? filled_choice(node, spec, types) : node;
}

Entries filled(const Node& map, const Schema& schema, const TypeTable& types) {
  Entries out, inlined;
  for (const auto& spec : schema.keys) {
    Node value = map.has(spec.name) ? map[spec.name] : spec.fallback;
    if (!value.defined() && spec.leaf == Leaf::map && spec.shapes.empty() && !spec.may_be_null) value = Node::map({});
    if (!value.defined()) continue;
    if (spec.form == ChoiceForm::inlined) {
      if (value.is_alternatives()) return map.entries();
      const TypeEntry* type = types.find(spec.choice_kind, value.text());
      if (!type) throw InternalError(unknown_type(types, spec.choice_kind, value.text()));
      for (auto& entry : filled(map, type->schema, types)) inlined.push_back(std::move(entry));
      out.push_back({spec.name, value});
    } else {
      out.push_back({spec.name, filled_value(value, spec, 0, types)});
    }
  }
  for (auto& entry : inlined) out.push_back(std::move(entry));
  return out;
}

/// {type: name, key: value} at the location of `value`.
Node block(const Node& value, Entries entries) {
  for (auto& entry : entries) entry.mark = value.mark();
  return Node::map(std::move(entries), value.mark()).at_path(value.path());
}

}  // namespace

const KeySpec* word_key(const Schema& block) {
  const auto* key = block.find("type");
  return key && !key->options.empty() && key->shapes.empty() ? key : nullptr;
}

const KeySpec* number_key(const TypeTable& types, std::string_view kind) {
  const auto* type = types.find(kind, "constant");
  if (!type || type->schema.keys.size() != 1) return nullptr;
  const auto& key = type->schema.keys[0];
  return key.leaf == Leaf::number && key.shapes.empty() ? &key : nullptr;
}

Node written_out(const Node& given, const KeySpec& spec, const TypeTable* types) {
  if (!given.is_scalar()) return given;
  if (spec.leaf == Leaf::map && word_key(*spec.nested) && !parse_number(given.text()))
    return block(given, {{"type", given}});
  if (!types || spec.leaf != Leaf::choice || spec.form != ChoiceForm::nested || given.quoted()) return given;
  if (!parse_number(given.text())) return given;
  const auto* key = number_key(*types, spec.choice_kind);
  return key ? block(given, {{"type", Node::scalar("constant", false, given.mark())}, {key->name, given}}) : given;
}

Node resolve(const Node& map, const Schema& schema, const TypeTable& types) {
  return Node::map(filled(map, schema, types), map.mark()).at_path(map.path());
}

std::string resolved(const Node& map, const Schema& schema, const TypeTable& types) {
  return to_yaml(resolve(map, schema, types));
}

}  // namespace cambium::deck
