#include <fmt/format.h>

#include "core/base/text.hpp"
#include "core/deck/reference.hpp"

namespace cambium::deck {

namespace {

std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '|' ? "\\|" : std::string(1, c);
  return out;
}

std::string code(std::string_view text) { return text.empty() ? "" : fmt::format("`{}`", cell(text)); }

std::string default_text(const KeySpec& key) {
  if (key.fallback.defined()) return code(to_line(key.fallback));
  return key.required ? "required" : key.leaf == Leaf::map && !key.may_be_null ? "its defaults" : "none";
}

std::string allowed_text(const KeySpec& key) {
  std::vector<std::string> parts;
  for (const auto& option : key.options) parts.push_back(code(option.name));
  if (const auto limits = key.bounds.text(); !limits.empty()) parts.push_back(limits);
  if (key.leaf == Leaf::expression) {
    std::vector<std::string> names;
    for (const auto& v : key.variables)
      names.push_back(v.unit.empty() ? code(v.name) : fmt::format("{} ({})", code(v.name), v.unit));
    parts.push_back("variables " + join(names));
  }
  return join(parts);
}

std::string type_text(const KeySpec& key) {
  KeySpec plain = key;
  if (plain.leaf == Leaf::option) {
    plain.options.clear();
    plain.leaf = Leaf::text;
  }
  if (plain.leaf != Leaf::choice) return plain.type_text();
  // A kind is a section of its own.
  return fmt::format("[{}](#{})", plain.type_text(), plain.choice_kind);
}

/// "; formerly `model`"
std::string formerly(const std::vector<std::string>& names) {
  std::vector<std::string> words;
  words.reserve(names.size());
  for (const auto& name : names) words.push_back(code(name));
  return words.empty() ? "" : "; formerly " + join(words);
}

void rows(const Schema& schema, const std::string& prefix, std::string& out) {
  for (const auto& key : schema.keys) {
    std::string meaning = cell(key.doc);
    if (!key.example.empty()) meaning += fmt::format(", e.g. {}", code(key.example));
    meaning += formerly(key.formerly);
    if (key.form == ChoiceForm::inlined) meaning += "; its keys are given next to this one";
    if (key.form == ChoiceForm::keyed) meaning += "; each a map with one key, the type's name";
    out += fmt::format("| {} | {} | {} | {} | {} | {} |\n", code(prefix + key.name), type_text(key), cell(key.unit),
                       default_text(key), allowed_text(key), meaning);
    if (key.leaf != Leaf::map) continue;
    std::string inner = prefix + key.name;
    for (const auto& shape : key.shapes) inner += shape.kind == Shape::Kind::dictionary ? ".<name>" : "[]";
    rows(*key.nested, inner + ".", out);
  }
}

}  // namespace

std::string markdown(const Schema& schema) {
  if (schema.keys.empty()) return "No keys.\n";
  std::string out = "| key | type | unit | default | allowed | meaning |\n|---|---|---|---|---|---|\n";
  rows(schema, "", out);
  return out;
}

std::string markdown(const TypeEntry& type) {
  return fmt::format("### {} `{}`\n\n{} (plugin `{}`{})\n\n{}", type.kind, type.name, type.doc, type.plugin,
                     formerly(type.formerly), markdown(type.schema));
}

std::string markdown(const TypeTable& types, std::span<const std::string> kinds) {
  std::string out;
  for (const auto& kind : kinds) {
    out += fmt::format("{}## {}\n", out.empty() ? "" : "\n", kind);
    for (const auto& name : types.names(kind)) out += fmt::format("\n{}", markdown(*types.find(kind, name)));
  }
  return out;
}

}  // namespace cambium::deck
