#pragma once
#include <concepts>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace cambium::deck {

/// Location in a source: file and 1-based line and column; line 0 means no line (command line, defaults).
struct Mark {
  std::string source;
  int line = 0;
  int column = 0;
  /// "file:line:col", or only the source.
  std::string text() const;
};

/// One value of a deck: a scalar, a list or a map, with its source location and its key path
/// ("stages[0].simulate.potential.cutoff"). Immutable and cheap to copy; outlives the document from which it was
/// parsed.
class Node {
 public:
  enum class Kind { none, null, scalar, list, map };
  struct Entry;

  Node() = default;  ///< none: the result for a key that a map does not have
  static Node scalar(std::string text, bool quoted = false, Mark mark = {});
  static Node null(Mark mark = {});
  static Node list(std::vector<Node> items, Mark mark = {});
  /// A list marked `!choice`: one of its items is to be picked (core/deck/alternatives.hpp).
  static Node alternatives(std::vector<Node> items, Mark mark = {});
  static Node map(std::vector<Entry> entries, Mark mark = {});

  Kind kind() const;
  bool defined() const { return kind() != Kind::none; }
  bool is_null() const { return kind() == Kind::null; }
  bool is_scalar() const { return kind() == Kind::scalar; }
  bool is_list() const { return kind() == Kind::list; }
  bool is_map() const { return kind() == Kind::map; }
  bool is_alternatives() const;

  /// Text of a scalar as it was written, without quotes; empty for anything else.
  const std::string& text() const;
  bool quoted() const;
  /// Items of a list; empty for anything else.
  const std::vector<Node>& items() const;
  /// Entries of a map in written order (a repeated key appears twice); empty for anything else.
  const std::vector<Entry>& entries() const;
  std::size_t size() const;

  bool has(std::string_view key) const;
  /// Value of the first entry with this key; none (not defined()) when there is no such entry.
  Node operator[](std::string_view key) const;
  Node operator[](const char* key) const { return (*this)[std::string_view(key)]; }
  /// Item of a list, counted from 0; none beyond its end.
  Node item(std::size_t index) const;
  template <std::integral I>
  Node operator[](I index) const {
    return item(static_cast<std::size_t>(index));
  }

  const Mark& mark() const;
  const std::string& path() const;
  /// "file:line:col: path", for messages.
  std::string where() const;

  /// The same node under another path; the paths of everything inside follow.
  Node at_path(std::string path) const;
  /// A map without the entries for which `drop(key)` holds. Marks and paths stay.
  template <class Drop>
  Node without(Drop drop) const;
  /// Copy of a map in which `key` has this value (replaced in place, or added at the end).
  Node with(std::string_view key, Node value) const;
  /// Copy of a list in which item `index` has this value.
  Node with(std::size_t index, Node value) const;

 private:
  struct Data;
  explicit Node(std::shared_ptr<const Data> data) : data_(std::move(data)) {}
  std::shared_ptr<const Data> data_;
};

struct Node::Entry {
  Entry(std::string key_, Node value_) : key(std::move(key_)), value(std::move(value_)) {}
  Entry(std::string key_, Mark mark_, Node value_)
      : key(std::move(key_)), mark(std::move(mark_)), value(std::move(value_)) {}
  std::string key;
  Mark mark;  ///< of the key
  Node value;
};

template <class Drop>
Node Node::without(Drop drop) const {
  std::vector<Entry> kept;
  for (const auto& entry : entries())
    if (!drop(entry.key)) kept.push_back(entry);
  return map(std::move(kept), mark()).at_path(path());
}

/// Keys that begin with "x-" are notes, which are ignored.
inline bool is_note(std::string_view key) { return key.starts_with("x-"); }

/// Path of an entry or an item of the node at `path`.
std::string child_path(std::string_view path, std::string_view key);
std::string child_path(std::string_view path, std::size_t index);

/// Reads one YAML document. `source` names it in messages. Throws InputError with file:line:column when it is not YAML.
Node parse(std::string_view text, std::string_view source);
/// The same from a file; InputError when it cannot be read.
Node load(const std::string& path);

/// YAML text of a node: block maps, lists of scalars in one line. Reading it gives the same node back.
std::string to_yaml(const Node& node);
/// The same in one line: "{a: 1, b: [x, y]}".
std::string to_line(const Node& node);

}  // namespace cambium::deck
