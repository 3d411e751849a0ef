#include "core/deck/override.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/deck/former_names.hpp"

namespace cambium::deck {

namespace {

/// The next key or "[index]" of a path, taken off its front.
struct Step {
  std::string key;
  bool is_index = false;
  std::size_t index = 0;
};

Step take_step(std::string_view& rest, std::string_view whole, const Mark& mark) {
  if (rest.starts_with('[')) {
    Step step{.key = {}, .is_index = true};
    const auto close = rest.find(']');
    const auto digits = rest.substr(1, close == std::string_view::npos ? close : close - 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), step.index);
    if (close == std::string_view::npos || error != std::errc() || end != digits.data() + digits.size())
      throw InputError(
          fmt::format("{}: '{}' is not a key path; expected one like stages[0].simulate.steps", mark.text(), whole));
    rest.remove_prefix(close + 1);
    if (rest.starts_with('.')) rest.remove_prefix(1);
    return step;
  }
  const auto end = rest.find_first_of(".[");
  Step step{.key = std::string(rest.substr(0, end))};
  if (step.key.empty())
    throw InputError(
        fmt::format("{}: '{}' is not a key path; expected one like stages[0].simulate.steps", mark.text(), whole));
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end);
  if (rest.starts_with('.')) rest.remove_prefix(1);
  return step;
}

Node marked(const Node& value, const Mark& mark) {
  std::vector<Node> items;
  std::vector<Node::Entry> entries;
  for (const auto& item : value.items()) items.push_back(marked(item, mark));
  for (const auto& entry : value.entries()) entries.push_back({entry.key, mark, marked(entry.value, mark)});
  if (value.is_alternatives()) return Node::alternatives(std::move(items), mark);
  if (value.is_list()) return Node::list(std::move(items), mark);
  if (value.is_map()) return Node::map(std::move(entries), mark);
  return value.is_null() ? Node::null(mark) : Node::scalar(value.text(), value.quoted(), mark);
}

/// How to give a key to a type that stands as a bare word; empty for any other value.
std::string hint_of_type(const Node& node, std::string_view key) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz_0123456789";
  if (!node.is_scalar() || node.quoted() || node.text().find_first_not_of(letters) != std::string::npos) return {};
  return fmt::format("; where '{}' names a type, give it together with the key: {}={{type: {}, {}: ...}}", node.text(),
                     node.path(), node.text(), key);
}

Node set(const Node& node, std::string_view rest, std::string_view whole, const Node& value, const Mark& mark) {
  if (rest.empty()) return value;
  const Step step = take_step(rest, whole, mark);
  const std::string here = node.path().empty() ? "the deck" : "'" + node.path() + "'";
  if (step.is_index) {
    if (!node.is_list()) throw InputError(fmt::format("{}: {}: {} is not a list", mark.text(), whole, here));
    if (step.index >= node.size())
      throw InputError(fmt::format("{}: {}: {} has {} items, counted from 0", mark.text(), whole, here, node.size()));
    return node.with(step.index, set(node[step.index], rest, whole, value, mark));
  }
  if (node.defined() && !node.is_map() && !node.is_null())
    throw InputError(fmt::format("{}: {}: {} is not a map{}", mark.text(), whole, here, hint_of_type(node, step.key)));
  const Node map = node.is_map() ? node : Node::map({}, mark).at_path(node.path());
  Node child = map[step.key];
  if (!child.defined()) child = Node::null(mark).at_path(child_path(map.path(), step.key));
  return map.with(step.key, set(child, rest, whole, value, mark));
}

/// Quotes text that begins with "{run}" or "{deck}", which would be a map in YAML: up to the comma or bracket that ends
/// it inside of a list or map, else all of the rest.
std::string with_quoted_places(std::string_view text) {
  std::string out;
  int depth = 0;
  char quote = 0, before = 0;  // within quotes; the last non-blank character
  for (std::size_t k = 0; k < text.size(); ++k) {
    const char c = text[k];
    const auto rest = text.substr(k);
    const bool begins = before == 0 || before == '[' || before == '{' || before == ',' || before == ':';
    if (!quote && begins && (rest.starts_with("{run}") || rest.starts_with("{deck}"))) {
      const auto end = depth == 0 ? rest.size() : std::min(rest.find_first_of(",]}", rest.find('}') + 1), rest.size());
      out += '\'';
      for (const char letter : trim(rest.substr(0, end))) out += letter == '\'' ? "''" : std::string(1, letter);
      out += '\'';
      k += end - 1;
      before = '\'';
      continue;
    }
    if (quote && c == quote)
      quote = 0;
    else if (!quote && (c == '"' || c == '\'') && begins)
      quote = c;
    else if (!quote && (c == '[' || c == '{'))
      ++depth;
    else if (!quote && (c == ']' || c == '}'))
      --depth;
    if (c != ' ') before = c;
    out += c;
  }
  return out;
}

/// A command line holds no comments: "runs/x #1" is a text.
Node without_comment(const Node& value, std::string_view text, const Mark& mark) {
  const bool cut = value.is_scalar() && !value.quoted() && text.find(" #") != std::string_view::npos;
  return cut ? Node::scalar(std::string(text), true, mark) : value;
}

}  // namespace

Node with_value(const Node& root, std::string_view path, const Node& value, const Mark& mark) {
  return set(root, path, path, value, mark).at_path("");
}

void override(Node& root, std::string_view assignment) {
  const Mark mark{"command line", 0, 0};
  const auto equals = assignment.find('=');
  if (equals == std::string_view::npos || equals == 0)
    throw InputError(fmt::format("command line: found '{}', expected key.path=value", assignment));
  const auto text = trim(assignment.substr(equals + 1));
  if (text.starts_with('#')) {
    root = with_value(root, trim(assignment.substr(0, equals)), Node::scalar(std::string(text), true, mark), mark);
    return;
  }
  const Node value = text.empty() || text == "~" || text == "null"
                         ? Node::null(mark)
                         : marked(parse(with_quoted_places(text), "command line"), mark);
  root = with_value(root, trim(assignment.substr(0, equals)), without_comment(value, text, mark), mark);
}

void override(Node& root, std::string_view assignment, const Schema& schema, const TypeTable& types,
              Problems& problems) {
  const auto equals = std::min(assignment.find('='), assignment.size());
  const Mark mark{"command line", 0, 0};
  const auto path = present_path(root, trim(assignment.substr(0, equals)), schema, types, mark, problems);
  override(root, path + std::string(assignment.substr(equals)));
  root = present_names(root, schema, &types, problems);
}

void apply_test_overrides(Node& root) {
  const Node overrides = root["x-test"];
  for (const auto& entry : overrides.entries()) root = with_value(root, entry.key, entry.value, entry.mark);
}

void apply_test_overrides(Node& root, const Schema& schema, const TypeTable& types, Problems& problems) {
  const Node overrides = root["x-test"];
  for (const auto& entry : overrides.entries()) {
    const auto path = present_path(root, entry.key, schema, types, entry.mark, problems);
    root = present_names(with_value(root, path, entry.value, entry.mark), schema, &types, problems);
  }
}

}  // namespace cambium::deck
