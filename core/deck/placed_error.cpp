#include "core/deck/placed_error.hpp"

#include <fmt/format.h>

#include <charconv>

#include "core/base/text.hpp"
#include "core/deck/about_key.hpp"
#include "core/deck/scalar_place.hpp"

namespace cambium::deck {

namespace {

/// Removes and returns the first step of `path`: "a" of "a.b", "a" of "a[1].b", "1" of "[1].b".
std::string_view take_step(std::string_view& path) {
  const bool item = path.front() == '[';
  const auto end = item ? path.find(']') : path.find_first_of(".[", 1);
  const auto step = path.substr(item, end == std::string_view::npos ? end : end - item);
  path.remove_prefix(end == std::string_view::npos ? path.size() : end + item);
  if (path.starts_with('.')) path.remove_prefix(1);
  return step;
}

Node child(const Node& node, std::string_view step) {
  if (!node.is_list()) return node[step];
  std::size_t index = 0;
  const auto read = std::from_chars(step.data(), step.data() + step.size(), index);
  return read.ec == std::errc() ? node.item(index) : Node();
}

/// For character `column` of a scalar, from 1.
Mark mark_inside(const Node& scalar, std::size_t column) {
  Mark mark = scalar.mark();
  if (mark.line == 0) return mark;
  const auto place = place_in_file(mark.source, {mark.line, mark.column}, scalar.quoted(), scalar.text(), column);
  mark.line = place.line;
  mark.column = place.column;
  return mark;
}

}  // namespace

std::string joined_key(const std::string& outer, const std::string& inner) {
  if (outer.empty() || inner.empty() || inner.front() == '[') return outer + inner;
  return outer + "." + inner;
}

std::string PlacedText::with_id() const { return id.empty() ? text : fmt::format("{} [{}]", text, id); }

PlacedError::PlacedError(const std::vector<PlacedText>& all, const std::string& last)
    : DeckError([&] {
        std::vector<std::string> lines;
        for (const auto& one : all) lines.push_back(one.text);
        if (!last.empty()) lines.push_back(last);
        return join(lines, "\n");
      }()) {
  for (const auto& one : all) verbose_ += (verbose_.empty() ? "" : "\n") + one.with_id();
  if (!last.empty()) verbose_ += "\n" + last;
}

Node value_at(const Node& keys, std::string_view path) {
  Node node = keys;
  while (!path.empty()) {
    const Node inner = child(node, take_step(path));
    if (!inner.defined()) break;
    node = inner;
  }
  return node;
}

PlacedText placed(const std::string& text, const Node& keys) {
  const std::string where = keys.where();
  return {where.empty() ? text : fmt::format("{}: {}", where, text), {}};
}

PlacedText placed(const InputError& error, const Node& keys) {
  const auto* about = dynamic_cast<const KeyError*>(&error);
  if (!about) return placed(std::string(error.what()), keys);
  const Node node = value_at(keys, about->key());
  PlacedText out = placed(std::string(error.what()), node);
  if (about->column() > 0 && node.is_scalar())
    out.text = fmt::format("{}: {}: {}", mark_inside(node, about->column()).text(), node.path(), error.what());
  out.id = about->id();
  return out;
}

}  // namespace cambium::deck
