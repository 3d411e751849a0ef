#pragma once
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/parallel/context.hpp"
#include "core/plugin/command.hpp"
#include "core/plugin/late_library.hpp"

namespace cambium {

struct Bench;  // core/plugin/bench.hpp; forward-declared so that changes there do not recompile all types

/// Every type that a deck can name, by kind. Plugins add their types in one explicit function each.
///
/// A type T derives from a kind K (a base class with `using Kind = K` and `static constexpr std::string_view kind`),
/// has a struct T::Params with describe() (core/deck/describe.hpp) and a constructor T(const T::Params&, Context&).
class Registry : public deck::TypeTable {
 public:
  Registry();
  ~Registry() override;
  Registry(const Registry&) = delete;  // its entries hold its address
  Registry& operator=(const Registry&) = delete;

  /// Plugin to which the following add() calls belong; shown by `cambium list` and in messages.
  void set_plugin(std::string_view name) { plugin_ = name; }
  const std::string& plugin() const { return plugin_; }

  /// A type that was just added, for further declarations.
  class Added {
   public:
    Added(Registry& registry, std::size_t type) : registry_(registry), type_(type) {}
    /// Words of the field for what this type does ("nvt" of csvr); case and '-', '/' or ' ' versus '_' are free, and
    /// several types may share one. A deck that names one of them gets the types in its error message.
    Added& synonyms(std::initializer_list<const char*> words);

   private:
    Registry& registry_;
    std::size_t type_;
  };

  /// Throws InternalError when the kind has this name already.
  template <class T>
  Added add(std::string_view name, std::string_view doc);

  /// Types that a library adds when one of them is first requested. Their names and kinds are listed from now on, in
  /// this position; any other query about them, or about all benches, loads the library. A name that no type of a kind
  /// has loads all libraries with types of this kind, because synonyms and former names are known only then.
  /// InternalError if the loaded library adds other types than it declares, or a tool.
  void add_later(LateLibrary library);

  /// `former` is what an earlier version called the type `name` of kind K, which must exist. Decks that use it still
  /// run, with a hint. InternalError if a type of this kind is called `former` today.
  template <class K>
  void renamed(std::string_view former, std::string_view name) {
    rename(K::kind, former, name);
  }

  /// Builds an object from a key of a deck. Reads the type's keys again and throws DeckError with all problems; an
  /// InputError of the constructor is rethrown with its location in the deck prepended.
  template <class K>
  std::unique_ptr<K> make(const deck::Choice<K>& choice, Context& context) const {
    return make<K>(choice.type, choice.node, context);
  }
  /// `keys` is a map of the type's own keys. Throws InputError when the kind has no such name.
  template <class K>
  std::unique_ptr<K> make(std::string_view name, const deck::Node& keys, Context& context) const {
    return std::unique_ptr<K>(static_cast<K*>(create(K::kind, name, keys, context)));
  }

  /// Kinds that have types, in order of registration.
  std::vector<std::string> kinds() const;
  std::vector<std::string> names(std::string_view kind) const override;
  const deck::TypeEntry* find(std::string_view kind, std::string_view name) const override;
  /// The same for name, plugin and description only: no library is loaded if these were declared by add_later().
  const deck::TypeEntry* listed(std::string_view kind, std::string_view name) const;
  /// Plugins that have added types, in order.
  std::vector<std::string> plugins() const;

  /// Tools and measurements of a plugin (core/plugin/command.hpp, core/plugin/bench.hpp). benches() loads every library
  /// of add_later().
  void add_command(Command command) { commands_.push_back(std::move(command)); }
  void add_bench(Bench bench);
  const std::vector<Command>& commands() const { return commands_; }
  const std::vector<Bench>& benches() const;

  /// A type that exists but is not in this build: a deck that names it gets a message where to find it
  /// ("belongs to plugin 'x', which this build does not have (-DOPTION=ON)").
  void known_elsewhere(std::string_view kind, std::string_view name, std::string_view plugin, std::string_view how);
  /// Advice for a name that no type of the kind has, as the end of "KIND 'NAME' ...": the types for which it is a
  /// synonym, else the plugin that has it; empty if nothing is known.
  std::string elsewhere(std::string_view kind, std::string_view name) const override;

 private:
  /// Returns a K* for the kind's base class K, as a void*.
  using Factory = std::function<void*(const deck::Node&, Context&)>;
  struct Late {
    Registry& registry;
    LateLibrary library;
    std::size_t bench;  ///< of benches_: its own go before this one
    bool loaded = false;
    void load();
  };
  struct Type {
    deck::TypeEntry entry;
    Factory factory;
    std::vector<std::string> synonyms;
    Late* later = nullptr;  ///< library that adds it; not loaded yet while there is no factory
  };
  struct Elsewhere {
    std::string kind, name, plugin, how;
  };

  Added insert(deck::TypeEntry entry, Factory factory);
  std::size_t place(std::string_view kind, std::string_view name) const;
  void load_kind(std::string_view kind) const;
  void rename(std::string_view kind, std::string_view former, std::string_view name);
  std::string types_meant(std::string_view kind, std::string_view word) const;
  void* create(std::string_view kind, std::string_view name, const deck::Node& keys, Context& context) const;

  std::string plugin_ = "core";
  std::vector<std::unique_ptr<Type>> types_;  // pointers: find() hands out addresses that later add()s must not move
  std::vector<std::unique_ptr<Late>> late_;
  Late* loading_ = nullptr;  ///< whose types are being added
  std::vector<Elsewhere> elsewhere_;
  std::vector<Command> commands_;
  std::unique_ptr<std::vector<Bench>> benches_;
};

template <class T>
Registry::Added Registry::add(std::string_view name, std::string_view doc) {
  using Kind = typename T::Kind;
  using Params = typename T::Params;
  static_assert(std::is_base_of_v<Kind, T>);
  deck::TypeEntry entry;
  entry.kind = Kind::kind;
  entry.name = name;
  entry.plugin = plugin_;
  entry.doc = doc;
  entry.schema = deck::schema_of<Params>();
  entry.validate = [this](const deck::Node& keys, deck::Problems& problems) {
    deck::read<Params>(keys, problems, this);
  };
  return insert(std::move(entry), [this](const deck::Node& keys, Context& context) -> void* {
    Kind* made = new T(deck::read<Params>(keys, this), context);
    return made;
  });
}

}  // namespace cambium
