#pragma once
// One declaration per key: from Params::describe() come parsing, checking, defaults, documentation and the JSON schema.
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/units.hpp"
#include "core/deck/former_names.hpp"
#include "core/deck/value.hpp"

namespace cambium::deck {

/// One key of P, whose member has type T; returned by Describe for refinement. Every function returns the key again.
template <class P, class T>
class Key;

namespace detail {
template <class P>
struct KeyOf {
  KeySpec spec;
  virtual ~KeyOf() = default;
  virtual void finish() = 0;
  virtual bool read(const Node& map, Reader& reader, P& out) const = 0;
  virtual Node write(const P& value) const = 0;
};
}  // namespace detail

template <class P, class T>
class Key : public detail::KeyOf<P> {
 public:
  using LeafType = typename Value<T>::LeafType;
  using detail::KeyOf<P>::spec;
  explicit Key(T P::*member) : member_(member) {}

  /// Unit of the value in the struct; a deck may use any compatible one ("1 fs").
  Key& unit(std::string_view text) {
    unit_of(text);
    spec.unit = text;
    return *this;
  }
  Key& positive() {
    spec.bounds.above = 0.0;
    return *this;
  }
  Key& non_negative() {
    spec.bounds.at_least = 0.0;
    return *this;
  }
  Key& range(double low, double high) {
    spec.bounds.at_least = low;
    spec.bounds.at_most = high;
    return *this;
  }
  Key& at_least(double low) {
    spec.bounds.at_least = low;
    return *this;
  }
  Key& at_most(double high) {
    spec.bounds.at_most = high;
    return *this;
  }
  Key& greater_than(double low) {
    spec.bounds.above = low;
    return *this;
  }
  Key& less_than(double high) {
    spec.bounds.below = high;
    return *this;
  }
  /// Shown in the reference and used by generated example decks.
  Key& example(std::string_view text) {
    spec.example = text;
    return *this;
  }

  /// Name of this key in an earlier version. Decks that use it still run, with a hint.
  Key& formerly(std::string_view name) {
    spec.formerly.emplace_back(name);
    return *this;
  }

  /// The value when the key is absent; without a default the key is required (unless it is a std::optional).
  Key& def(T value) {
    default_ = std::move(value);
    spec.required = false;
    return *this;
  }

  /// The words that an enum may be written as.
  Key& options(std::initializer_list<std::pair<const char*, LeafType>> words) requires std::is_enum_v<LeafType> {
    for (const auto& [name, value] : words) spec.options.push_back({name, static_cast<long long>(value)});
    return *this;
  }
  /// The words that a text may be.
  Key& options(std::initializer_list<const char*> words) requires std::same_as<LeafType, std::string> {
    for (const char* name : words) spec.options.push_back({name, 0});
    return *this;
  }
  /// The variables of an expression, in the order in which they are given when it is evaluated. Default: t (ps), step.
  Key& variables(std::vector<Variable> list) requires std::same_as<LeafType, Expression> {
    spec.variables = std::move(list);
    return *this;
  }
  /// Written as a map with one key, the type's name: {simulate: {...}}.
  Key& keyed() requires requires(LeafType v) {
    v.type;
    v.node;
  }
  {
    spec.form = ChoiceForm::keyed;
    return *this;
  }

  void finish() override {
    if (default_) spec.fallback = Value<T>::write(*default_, spec);
    // A struct whose keys all have defaults may be omitted.
    if constexpr (Described<T>)
      if (!default_) {
        spec.required = false;
        for (const auto& key : spec.nested->keys) spec.required |= key.required;
      }
  }

  bool read(const Node& map, Reader& reader, P& out) const override {
    const Node node = map[spec.name];
    if (!node.defined()) {
      if (default_ && spec.form == ChoiceForm::inlined)
        return Value<T>::read(map.with(spec.name, spec.fallback), spec, 0, reader, out.*member_);
      if (default_) return out.*member_ = *default_, true;
      if constexpr (Described<T>)
        if (!spec.required) return Value<T>::read(empty(map), spec, 0, reader, out.*member_);
      return true;  // an optional; a missing required key was reported with the map
    }
    return Value<T>::read(spec.form == ChoiceForm::inlined ? map : node, spec, 0, reader, out.*member_);
  }

  Node write(const P& value) const override { return Value<T>::write(value.*member_, spec); }

 private:
  Node empty(const Node& map) const { return Node::map({}, map.mark()).at_path(child_path(map.path(), spec.name)); }

  T P::*member_;
  std::optional<T> default_;
};

/// Collects the keys of P. Usage, in P:  static void describe(deck::Describe<P>& d) {
///   d("epsilon", &P::epsilon, "well depth").unit("eV").positive();
///   d("steps", &P::steps, "number of steps").at_least(0).def(100); }
template <class P>
class Describe {
 public:
  /// `member` is one of P, or of a base class of P.
  template <class T, class Base>
  Key<P, T>& operator()(std::string_view name, T Base::*member, std::string_view doc) {
    auto key = std::make_unique<Key<P, T>>(member);
    Key<P, T>& out = *key;
    out.spec.name = name;
    out.spec.doc = doc;
    Value<T>::specify(out.spec);
    keys_.push_back(std::move(key));
    return out;
  }

  /// A choice whose type is named by `name` among P's own keys and whose keys are inlined there: {physics: md, steps:
  /// 100, timestep: 1}.
  template <class K>
  Key<P, Choice<K>>& inline_choice(std::string_view name, Choice<K> P::*member, std::string_view doc) {
    auto& key = (*this)(name, member, doc);
    key.spec.form = ChoiceForm::inlined;
    return key;
  }

  /// A condition over several keys: "" if it holds, else the problem. Evaluated only if every key was read.
  void check(std::function<std::string(const P&)> condition) { checks_.push_back(std::move(condition)); }

  /// Completes what depends on the entire declaration; called once, after P::describe.
  void finish() {
    for (auto& key : keys_) key->finish();
  }

  Schema schema() const {
    Schema out;
    for (const auto& key : keys_) out.keys.push_back(key->spec);
    return out;
  }

  bool read(const Node& map, Reader& reader, P& out) const {
    bool good = check_keys(map, schema(), reader);
    if (!map.is_map() && !map.is_null()) return false;
    for (const auto& key : keys_) good &= key->read(map, reader, out);
    if (!good) return false;
    for (const auto& condition : checks_) {
      const std::string problem = condition(out);
      if (!problem.empty()) {
        reader.problems.add(map, problem);
        good = false;
      }
    }
    return good;
  }

  Node write(const P& value) const {
    std::vector<Node::Entry> entries;
    for (const auto& key : keys_) entries.push_back({key->spec.name, key->write(value)});
    return Node::map(std::move(entries));
  }

 private:
  std::vector<std::unique_ptr<detail::KeyOf<P>>> keys_;
  std::vector<std::function<std::string(const P&)>> checks_;
};

template <Described P>
Describe<P> description_of() {
  Describe<P> d;
  P::describe(d);
  d.finish();
  return d;
}

/// The keys of P.
template <Described P>
Schema schema_of() {
  return description_of<P>().schema();
}

/// Reads P from a map; false when something is wrong, which is then in reader.problems.
template <Described P>
bool read_map(const Node& node, Reader& reader, P& out) {
  return description_of<P>().read(node, reader, out);
}

/// P as a map of a deck.
template <Described P>
Node map_of(const P& value) {
  return description_of<P>().write(value);
}

/// Reads P and collects problems; nested choices are checked against `types` where given. Former names are read, too.
template <Described P>
P read(const Node& node, Problems& problems, const TypeTable* types = nullptr) {
  P out;
  Reader reader{problems, types};
  const auto description = description_of<P>();
  description.read(present_names(node, description.schema(), types, problems), reader, out);
  return out;
}

/// The same; throws DeckError with all problems.
template <Described P>
P read(const Node& node, const TypeTable* types = nullptr) {
  Problems problems;
  P out = read<P>(node, problems, types);
  problems.throw_if_any();
  return out;
}

}  // namespace cambium::deck
