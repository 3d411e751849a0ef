#pragma once
#include <string>
#include <vector>

#include "core/plugin/registry.hpp"

namespace CLI {
class App;
}

namespace cambium {

/// One option or argument of a command, as its help shows it.
struct CommandWord {
  std::vector<std::string> flags;  ///< "-o", "--output"; empty for a positional argument
  std::string name;                ///< of an argument: "deck"
  std::string doc;
  bool takes_value = false;  ///< an option that is followed by a value
  bool required = false;
};

/// A command of the program with its arguments and subcommands.
struct CommandTree {
  std::string name, doc;
  std::vector<CommandWord> words;
  std::vector<CommandTree> verbs;
};

/// Help of `app` as data. Options of a plugin's own tools are not known to it.
CommandTree command_tree(const CLI::App& app);

/// Names that complete an argument: types by kind and benches.
struct KnownNames {
  struct Kind {
    std::string name;
    std::vector<std::string> types;
  };
  std::vector<Kind> kinds;
  std::vector<std::string> benches;
};
KnownNames known_names(const Registry& registry);

/// A script for the shell ("bash", "zsh" or "fish") that completes commands, options, decks, run folders and the names
/// of types. InputError for another shell.
std::string completion(const CommandTree& tree, const KnownNames& names, const std::string& shell);

/// The manual page cambium(1) in man's own language (roff, the macros of man(7)).
std::string man_page(const CommandTree& tree);

}  // namespace cambium
