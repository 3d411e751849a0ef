#include "core/deck/node.hpp"

#include <fmt/format.h>

namespace cambium::deck {

struct Node::Data {
  Kind kind = Kind::null;
  std::string text;
  bool quoted = false, alternatives = false;
  std::vector<Node> items;
  std::vector<Entry> entries;
  Mark mark;
  std::string path;
};

namespace {

const std::string no_text;
const Mark no_mark;

}  // namespace

std::string Mark::text() const { return line > 0 ? fmt::format("{}:{}:{}", source, line, column) : source; }

Node Node::scalar(std::string text, bool quoted, Mark mark) {
  auto data = std::make_shared<Data>();
  data->kind = Kind::scalar;
  data->text = std::move(text);
  data->quoted = quoted;
  data->mark = std::move(mark);
  return Node(std::move(data));
}

Node Node::null(Mark mark) {
  auto data = std::make_shared<Data>();
  data->mark = std::move(mark);
  return Node(std::move(data));
}

Node Node::list(std::vector<Node> items, Mark mark) {
  auto data = std::make_shared<Data>();
  data->kind = Kind::list;
  data->items = std::move(items);
  data->mark = std::move(mark);
  return Node(std::move(data));
}

Node Node::alternatives(std::vector<Node> items, Mark mark) {
  const Node plain = list(std::move(items), std::move(mark));
  auto data = std::make_shared<Data>(*plain.data_);
  data->alternatives = true;
  return Node(std::move(data));
}

Node Node::map(std::vector<Entry> entries, Mark mark) {
  auto data = std::make_shared<Data>();
  data->kind = Kind::map;
  data->entries = std::move(entries);
  data->mark = std::move(mark);
  return Node(std::move(data));
}

Node::Kind Node::kind() const { return data_ ? data_->kind : Kind::none; }
const std::string& Node::text() const { return data_ ? data_->text : no_text; }
bool Node::quoted() const { return data_ && data_->quoted; }
bool Node::is_alternatives() const { return data_ && data_->alternatives; }

const std::vector<Node>& Node::items() const {
  static const std::vector<Node> nothing;
  return data_ ? data_->items : nothing;
}

const std::vector<Node::Entry>& Node::entries() const {
  static const std::vector<Entry> nothing;
  return data_ ? data_->entries : nothing;
}

std::size_t Node::size() const { return is_map() ? entries().size() : items().size(); }
const Mark& Node::mark() const { return data_ ? data_->mark : no_mark; }
const std::string& Node::path() const { return data_ ? data_->path : no_text; }

bool Node::has(std::string_view key) const {
  for (const auto& entry : entries())
    if (entry.key == key) return true;
  return false;
}

Node Node::operator[](std::string_view key) const {
  for (const auto& entry : entries())
    if (entry.key == key) return entry.value;
  return {};
}

Node Node::item(std::size_t index) const { return index < items().size() ? items()[index] : Node(); }

std::string Node::where() const {
  const std::string place = mark().text();
  return place.empty() || path().empty() ? place + path() : fmt::format("{}: {}", place, path());
}

Node Node::at_path(std::string path) const {
  if (!data_) return {};
  auto data = std::make_shared<Data>(*data_);
  for (std::size_t i = 0; i < data->items.size(); ++i) data->items[i] = data->items[i].at_path(child_path(path, i));
  for (auto& entry : data->entries) entry.value = entry.value.at_path(child_path(path, entry.key));
  data->path = std::move(path);
  return Node(std::move(data));
}

Node Node::with(std::string_view key, Node value) const {
  auto changed = entries();
  const Mark place = value.mark();
  Entry entry{std::string(key), place, std::move(value)};
  bool found = false;
  for (auto& old : changed)
    if (!found && old.key == key) {
      // A value of the same source was moved within it, and its key keeps its location; another one is from the command
      // line.
      if (place.line > 0 && place.source == old.mark.source) entry.mark = old.mark;
      old = entry;
      found = true;
    }
  if (!found) changed.push_back(std::move(entry));
  return map(std::move(changed), mark()).at_path(path());
}

Node Node::with(std::size_t index, Node value) const {
  auto changed = items();
  changed.at(index) = std::move(value);
  return (is_alternatives() ? alternatives(std::move(changed), mark()) : list(std::move(changed), mark()))
      .at_path(path());
}

std::string child_path(std::string_view path, std::string_view key) {
  return path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
}
std::string child_path(std::string_view path, std::size_t index) { return fmt::format("{}[{}]", path, index); }

}  // namespace cambium::deck
