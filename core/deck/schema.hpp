#pragma once
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/deck/expression.hpp"
#include "core/deck/node.hpp"
#include "core/deck/problems.hpp"

namespace cambium::deck {

struct Schema;

/// Leaf of a value once lists and maps around it are taken off.
enum class Leaf { number, integer, boolean, text, option, expression, map, choice };

/// One layer around a leaf: a list of any length, a list of `count` items, or a map with free keys.
struct Shape {
  enum class Kind { list, array, dictionary } kind = Kind::list;
  std::size_t count = 0;
};

/// Limits of a number; absent ones do not limit.
struct Bounds {
  std::optional<double> above, at_least, below, at_most;
  bool allow(double value) const;
  /// "> 0", "from 0 to 1", "> 0 and < 5"; empty without limits.
  std::string text() const;
};

struct Option {
  std::string name;
  long long value = 0;
};

/// How the type of a choice is named: {type: lj, ...}; {physics: md, ...} among the keys around it; {simulate: {...}}.
enum class ChoiceForm { nested, inlined, keyed };

/// All that is known of one key; the part of a declaration that does not depend on C++ types.
struct KeySpec {
  std::string name, doc, unit, example;
  std::vector<std::string> formerly;  ///< names of earlier versions, which decks may still use
  Leaf leaf = Leaf::number;
  std::vector<Shape> shapes;  ///< outermost first
  bool required = true;
  bool may_be_null = false;  ///< std::optional
  Bounds bounds;
  double lowest = -std::numeric_limits<double>::infinity();  ///< of the underlying C++ integer
  double highest = std::numeric_limits<double>::infinity();
  std::vector<Option> options;
  std::vector<Variable> variables{{"t", "ps"}, {"step", ""}};  ///< of an expression
  Node fallback;                         ///< the default as it would be written; none when there is none
  std::shared_ptr<const Schema> nested;  ///< of Leaf::map
  std::string choice_kind;               ///< of Leaf::choice
  ChoiceForm form = ChoiceForm::nested;

  /// Description of the allowed values with limits and unit: "a number > 0 ps", "a list of 3 whole numbers".
  std::string expected() const;
  /// The same for an item inside the first `depth` shapes.
  std::string expected(std::size_t depth) const;
  /// Type only, for tables: "number", "list of numbers", "one of: nve, nvt".
  std::string type_text() const;
  std::vector<std::string> option_names() const;
};

/// The keys of one map, in order of declaration.
struct Schema {
  std::vector<KeySpec> keys;
  const KeySpec* find(std::string_view name) const;
  /// The key that an earlier version called `name`.
  const KeySpec* formerly(std::string_view name) const;
};

/// Type-erased entry of a registered type for the deck layer.
struct TypeEntry {
  std::string kind, name, plugin, doc;
  std::vector<std::string> formerly;  ///< names of earlier versions, which decks may still use
  Schema schema;
  /// Reads the type's own keys from a map and reports everything that is wrong, nested choices included.
  std::function<void(const Node&, Problems&)> validate;
};

/// Table of the types that a deck can name; the Registry is one.
class TypeTable {
 public:
  virtual ~TypeTable() = default;
  /// None if there is no such type. A former name finds the type, too: entry->name is its present name.
  virtual const TypeEntry* find(std::string_view kind, std::string_view name) const = 0;
  /// Names of all types of a kind, in order of registration.
  virtual std::vector<std::string> names(std::string_view kind) const = 0;
  /// How to obtain a type that this build lacks; empty if nothing is known about it.
  virtual std::string elsewhere(std::string_view kind, std::string_view name) const;
};

/// Names of all keys allowed in `map`: those of the schema and, for an inlined choice, of its chosen type. `complete`
/// is set to false if an inlined choice is missing or unknown, so the other keys cannot be checked.
std::vector<std::string> known_keys(const Schema& schema, const Node& map, const TypeTable* types, bool& complete);

/// Error text for a name that no type of this kind has.
std::string unknown_type(const TypeTable& types, std::string_view kind, std::string_view name);

}  // namespace cambium::deck
