#include "apps/cambium/command_line/completion.hpp"

#include <fmt/format.h>

#include "core/base/error.hpp"

namespace cambium::shell {

Argument argument_of(const CommandTree& command) {
  for (const auto& word : command.words) {
    if (!word.flags.empty()) continue;
    if (word.name == "deck") return Argument::deck;
    if (word.name == "directory" || word.name == "destination") return Argument::folder;
    if (word.name == "shell") return Argument::shell;
    if (word.name == "kind") return Argument::kind;
    if (word.name == "name" && command.name == "bench") return Argument::bench;
    return Argument::none;
  }
  return Argument::none;
}

std::vector<std::string> flags_of(const CommandTree& command) {
  std::vector<std::string> all;
  for (const auto& word : command.words) all.insert(all.end(), word.flags.begin(), word.flags.end());
  return all;
}

std::vector<std::string> names_of(const std::vector<CommandTree>& verbs) {
  std::vector<std::string> names;
  for (const auto& verb : verbs) names.push_back(verb.name);
  return names;
}

std::vector<std::string> kinds_of(const KnownNames& names) {
  std::vector<std::string> kinds;
  for (const auto& kind : names.kinds) kinds.push_back(kind.name);
  return kinds;
}

/// Names that can be the first argument of a command; empty if that is a file.
std::vector<std::string> first_words(const CommandTree& command, const KnownNames& names) {
  std::vector<std::string> words = names_of(command.verbs);
  const auto argument = argument_of(command);
  if (argument == Argument::kind) words = kinds_of(names);
  if (argument == Argument::bench) words = names.benches;
  if (argument == Argument::shell) words = {"bash", "zsh", "fish"};
  return words;
}

/// Text in single quotes of a shell. Both sh and fish end a quote with ' and take \' outside of one.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace cambium::shell

namespace cambium {

std::string completion(const CommandTree& tree, const KnownNames& names, const std::string& shell) {
  if (shell == "bash") return shell::bash(tree, names);
  if (shell == "zsh") return shell::zsh(tree, names);
  if (shell == "fish") return shell::fish(tree, names);
  throw InputError(
      fmt::format("there is no completion for the shell '{}': bash, zsh and fish have one, for example "
                  "`cambium completion bash > ~/.local/share/bash-completion/completions/cambium`",
                  shell));
}

}  // namespace cambium
