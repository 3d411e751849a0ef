#pragma once
// Representation of a C++ type in a deck: Value<T> describes its shape to a KeySpec, reads it and writes it back.
#include <array>
#include <concepts>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "core/base/text.hpp"
#include "core/deck/choice.hpp"
#include "core/deck/read.hpp"

namespace cambium::deck {

template <class P>
class Describe;

/// A struct that declares its keys.
template <class T>
concept Described = requires(Describe<T>& d) {
  T::describe(d);
};

template <Described P>
Schema schema_of();
template <Described P>
bool read_map(const Node& node, Reader& reader, P& out);
template <Described P>
Node map_of(const P& value);

/// Each specialisation has: LeafType; specify(spec), outermost shape first; read(node, spec, depth, reader, out);
/// write(value, spec).
template <class T>
struct Value;

template <std::floating_point T>
struct Value<T> {
  using LeafType = T;
  static void specify(KeySpec& spec) { spec.leaf = Leaf::number; }
  static bool read(const Node& node, const KeySpec& spec, std::size_t, Reader& reader, T& out) {
    double value = 0.0;
    if (!read_number(node, spec, reader, value)) return false;
    out = static_cast<T>(value);
    return true;
  }
  static Node write(T value, const KeySpec&) { return Node::scalar(number_text(value)); }
};

template <std::integral T>
struct Value<T> {
  using LeafType = T;
  static void specify(KeySpec& spec) {
    spec.leaf = Leaf::integer;
    spec.lowest = static_cast<double>(std::numeric_limits<T>::min());
    spec.highest = static_cast<double>(std::numeric_limits<T>::max());
  }
  static bool read(const Node& node, const KeySpec& spec, std::size_t, Reader& reader, T& out) {
    long long value = 0;
    if (!read_integer(node, spec, reader, value)) return false;
    out = static_cast<T>(value);
    return true;
  }
  static Node write(T value, const KeySpec&) { return Node::scalar(std::to_string(value)); }
};

template <>
struct Value<bool> {
  using LeafType = bool;
  static void specify(KeySpec& spec) { spec.leaf = Leaf::boolean; }
  static bool read(const Node& node, const KeySpec& spec, std::size_t, Reader& reader, bool& out) {
    return read_boolean(node, spec, reader, out);
  }
  static Node write(bool value, const KeySpec&) { return Node::scalar(value ? "true" : "false"); }
};

template <>
struct Value<std::string> {
  using LeafType = std::string;
  static void specify(KeySpec& spec) { spec.leaf = Leaf::text; }
  static bool read(const Node& node, const KeySpec& spec, std::size_t, Reader& reader, std::string& out) {
    return read_text(node, spec, reader, out);
  }
  static Node write(const std::string& value, const KeySpec&) { return Node::scalar(value); }
};

template <>
struct Value<Expression> {
  using LeafType = Expression;
  static void specify(KeySpec& spec) { spec.leaf = Leaf::expression; }
  static bool read(const Node& node, const KeySpec& spec, std::size_t, Reader& reader, Expression& out) {
    return read_expression(node, spec, reader, out);
  }
  static Node write(const Expression& value, const KeySpec&) { return Node::scalar(value.text()); }
};

template <class T>
requires std::is_enum_v<T>
struct Value<T> {
  using LeafType = T;
  static void specify(KeySpec& spec) { spec.leaf = Leaf::option; }
  static bool read(const Node& node, const KeySpec& spec, std::size_t, Reader& reader, T& out) {
    long long value = 0;
    if (!read_option(node, spec, reader, value)) return false;
    out = static_cast<T>(value);
    return true;
  }
  static Node write(T value, const KeySpec& spec) {
    for (const auto& option : spec.options)
      if (option.value == static_cast<long long>(value)) return Node::scalar(option.name);
    throw InternalError("the default of key '" + spec.name + "' is none of its options");
  }
};

template <class K>
struct Value<Choice<K>> {
  using LeafType = Choice<K>;
  static void specify(KeySpec& spec) {
    spec.leaf = Leaf::choice;
    spec.choice_kind = std::string(K::kind);
  }
  static bool read(const Node& node, const KeySpec& spec, std::size_t, Reader& reader, Choice<K>& out) {
    return read_choice(node, spec, reader, out.type, out.node);
  }
  static Node write(const Choice<K>& value, const KeySpec& spec) {
    if (spec.form == ChoiceForm::keyed) return Node::map({{value.type, value.node}});
    if (value.node.size() == 0) return Node::scalar(value.type);
    auto entries = value.node.entries();
    entries.insert(entries.begin(), Node::Entry{"type", Node::scalar(value.type)});
    return Node::map(std::move(entries));
  }
};

template <Described P>
struct Value<P> {
  using LeafType = P;
  static void specify(KeySpec& spec) {
    spec.leaf = Leaf::map;
    spec.nested = std::make_shared<const Schema>(schema_of<P>());
  }
  static bool read(const Node& node, const KeySpec&, std::size_t, Reader& reader, P& out) {
    return read_map(node, reader, out);
  }
  static Node write(const P& value, const KeySpec&) { return map_of(value); }
};

template <class T>
struct Value<std::optional<T>> {
  using LeafType = typename Value<T>::LeafType;
  static void specify(KeySpec& spec) {
    spec.required = false;
    spec.may_be_null = true;
    Value<T>::specify(spec);
  }
  static bool read(const Node& node, const KeySpec& spec, std::size_t depth, Reader& reader, std::optional<T>& out) {
    if (node.is_null()) return out.reset(), true;
    return Value<T>::read(node, spec, depth, reader, out.emplace());
  }
  static Node write(const std::optional<T>& value, const KeySpec& spec) {
    return value ? Value<T>::write(*value, spec) : Node::null();
  }
};

template <class T>
struct Value<std::vector<T>> {
  using LeafType = typename Value<T>::LeafType;
  static void specify(KeySpec& spec) {
    spec.shapes.push_back({Shape::Kind::list, 0});
    Value<T>::specify(spec);
  }
  static bool read(const Node& node, const KeySpec& spec, std::size_t depth, Reader& reader, std::vector<T>& out) {
    if (!expect_list(node, spec, depth, 0, reader)) return false;
    bool good = true;
    out.clear();
    for (const auto& item : node.items()) good &= Value<T>::read(item, spec, depth + 1, reader, out.emplace_back());
    return good;
  }
  static Node write(const std::vector<T>& value, const KeySpec& spec) {
    std::vector<Node> items;
    for (const auto& item : value) items.push_back(Value<T>::write(item, spec));
    return Node::list(std::move(items));
  }
};

template <class T, std::size_t N>
struct Value<std::array<T, N>> {
  using LeafType = typename Value<T>::LeafType;
  static void specify(KeySpec& spec) {
    spec.shapes.push_back({Shape::Kind::array, N});
    Value<T>::specify(spec);
  }
  static bool read(const Node& node, const KeySpec& spec, std::size_t depth, Reader& reader, std::array<T, N>& out) {
    if (!expect_list(node, spec, depth, N, reader)) return false;
    bool good = true;
    for (std::size_t i = 0; i < N; ++i) good &= Value<T>::read(node[i], spec, depth + 1, reader, out[i]);
    return good;
  }
  static Node write(const std::array<T, N>& value, const KeySpec& spec) {
    std::vector<Node> items;
    for (const auto& item : value) items.push_back(Value<T>::write(item, spec));
    return Node::list(std::move(items));
  }
};

template <class T>
struct Value<std::map<std::string, T>> {
  using LeafType = typename Value<T>::LeafType;
  static void specify(KeySpec& spec) {
    spec.shapes.push_back({Shape::Kind::dictionary, 0});
    Value<T>::specify(spec);
  }
  static bool read(const Node& node, const KeySpec& spec, std::size_t depth, Reader& reader,
                   std::map<std::string, T>& out) {
    if (!expect_map(node, spec, depth, reader)) return false;
    bool good = true;
    out.clear();
    for (const auto& entry : node.entries())
      if (!is_note(entry.key)) good &= Value<T>::read(entry.value, spec, depth + 1, reader, out[entry.key]);
    return good;
  }
  static Node write(const std::map<std::string, T>& value, const KeySpec& spec) {
    std::vector<Node::Entry> entries;
    for (const auto& [key, item] : value) entries.push_back({key, Value<T>::write(item, spec)});
    return Node::map(std::move(entries));
  }
};

}  // namespace cambium::deck
