#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/plugin/task.hpp"

namespace cambium {

/// The whole of a deck.
struct DeckFile {
  struct Run {
    std::string name;
    std::string directory;  ///< "runs/<name>" when absent
    std::int64_t seed = 1;
    std::string walltime;
    static void describe(deck::Describe<Run>& d);
  };
  Run run;
  std::vector<std::string> plugins;
  std::vector<deck::Choice<Task>> stages;
  static void describe(deck::Describe<DeckFile>& d);

  /// Folder of each stage inside the run directory: the task's name, numbered from the second of a kind on.
  std::vector<std::string> stage_folders() const;
};

/// A deck read, with overrides, its plugins loaded and everything in it validated.
struct ReadDeck {
  deck::Node node;
  DeckFile deck;
  std::string
      resolved;  ///< YAML with all defaults; paths inside the run directory begin with {run}, so that it may be moved
  std::optional<int> first_overridden;  ///< first stage of which the command line changes a key
};

struct DeckOptions {
  std::vector<std::string> overrides;  ///< key.path=value
  bool test_size = false;              ///< apply the deck's x-test notes
  std::string directory = {};          ///< run.directory whatever the deck says; as the deck says when empty
  bool overwrite = false;              ///< an older run in the directory is moved aside
};

class Registry;

/// Reads a deck on rank 0, shares it, loads the plugins that it names and reports everything that is wrong at once.
/// `path` may be the name of a deck that came with the program (core/io/run/shipped.hpp).
ReadDeck read_deck(const std::string& path, const DeckOptions& options, Registry& registry, Context& context);

}  // namespace cambium
