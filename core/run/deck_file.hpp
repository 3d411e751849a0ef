#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/plugin/task.hpp"

namespace cambium {

/// A map with any keys and any values, kept as it was written.
struct FreeMap {
  deck::Node node = deck::Node::map({});
};

template <>
struct deck::Value<FreeMap> {
  using LeafType = FreeMap;
  static void specify(KeySpec& spec) {
    spec.leaf = Leaf::map;
    spec.nested = std::make_shared<const Schema>();
  }
  static bool read(const Node& node, const KeySpec& spec, std::size_t depth, Reader& reader, FreeMap& out) {
    out.node = node;
    return expect_map(node, spec, depth, reader);
  }
  static Node write(const FreeMap& value, const KeySpec&) { return value.node; }
};

/// A complete deck.
struct DeckFile {
  struct Run {
    std::string name;
    std::string directory;  ///< "runs/<name>" when absent
    std::int64_t seed = 1;
    std::string walltime;
    bool profile = false;
    static void describe(deck::Describe<Run>& d);
  };
  /// A table of runs, see apps/cambium/sweep.
  struct Sweep {
    FreeMap over, theory;
    bool zip = false;
    static void describe(deck::Describe<Sweep>& d);
  };
  Run run;
  std::vector<std::string> plugins;
  std::vector<deck::Choice<Task>> stages;
  std::optional<Sweep> sweep;
  static void describe(deck::Describe<DeckFile>& d);

  /// Folder of each stage inside the run directory: the task's name, numbered from the second of a kind on.
  std::vector<std::string> stage_folders() const;
};

/// The same for stages in a deck, each a map with one key; empty for any other node.
std::vector<std::string> stage_folders_of(const deck::Node& stages);

class Registry;

/// Replaces former names in a deck by present ones, also in its paths: "{run}/FOLDER" of a stage whose type had another
/// name.
deck::Node with_present_names(const deck::Node& written, const deck::Schema& schema, const Registry& registry,
                              deck::Problems& problems);

/// A deck read, with overrides, its plugins loaded and everything in it validated.
struct ReadDeck {
  deck::Node node;
  DeckFile deck;
  std::string
      resolved;  ///< YAML with all defaults; paths inside the run directory begin with {run}, so that it may be moved
  std::optional<int> first_overridden;  ///< first stage in which the command line changes a key
};

struct DeckOptions {
  std::vector<std::string> overrides;  ///< key.path=value
  bool test_size = false;              ///< apply the deck's x-test notes
  std::string directory = {};          ///< overrides run.directory of the deck unless empty
  bool overwrite = false;              ///< an older run in the directory is moved aside
};

/// A deck as it was written, read and parsed once.
struct WrittenDeck {
  std::string path;  ///< of the file; for a shipped one its location
  deck::Node root;
};

/// Rank 0 reads the file, all parse it. `given` may be the name of a shipped deck (core/io/shipped.hpp). Collective.
/// InputError if it cannot be read, DeckError if it is not YAML.
WrittenDeck written_deck(const std::string& given, const Comm& comm);

/// Content of a deck apart from its stages, with test notes and overrides applied: its plugins, and whether it is a
/// table of runs. The stages are as they were written, since their types are not known before plugins are loaded.
deck::Node deck_heading(const WrittenDeck& written, const DeckOptions& options);

/// A complete deck with test notes, overrides and its directory applied, under present names.
struct LoadedDeck {
  deck::Node root;
  std::vector<std::string> named;  ///< all names that may be meant as plugins of the deck
};

/// Loads the plugins that a deck names. Hints about former names are in `problems`. Collective.
LoadedDeck load_deck(const WrittenDeck& written, const DeckOptions& options, Registry& registry, Context& context,
                     deck::Problems& problems);

/// Reads the result of load_deck(). On errors, these are in `problems` and the rest must not be used; hints about
/// former names are there, too, for the caller to print.
ReadDeck read_deck(const deck::Node& deck, const std::string& path, const std::vector<std::string>& named,
                   const Registry& registry, Context& context, deck::Problems& problems);

/// Loads the plugins that a deck names and reports all problems at once. Collective.
ReadDeck read_deck(const WrittenDeck& written, const DeckOptions& options, Registry& registry, Context& context);
/// The same for the deck of a path.
ReadDeck read_deck(const std::string& path, const DeckOptions& options, Registry& registry, Context& context);

}  // namespace cambium
