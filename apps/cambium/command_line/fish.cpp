#include <fmt/format.h>

#include "apps/cambium/command_line/completion.hpp"
#include "core/base/text.hpp"

namespace cambium::shell {

static std::string fish_flag(const CommandTree& command, const CommandWord& word) {
  std::string out = fmt::format("complete -c cambium -n '__fish_seen_subcommand_from {}'", command.name);
  for (const auto& flag : word.flags) out += flag.starts_with("--") ? " -l " + flag.substr(2) : " -s " + flag.substr(1);
  return out + (word.takes_value ? " -r" : "") + " -d " + quoted(word.doc) + "\n";
}

std::string fish(const CommandTree& tree, const KnownNames& names) {
  std::string out = "# Completion of cambium for fish\ncomplete -c cambium -f\n";
  for (const auto& verb : tree.verbs) {
    out += fmt::format("complete -c cambium -n __fish_use_subcommand -a {} -d {}\n", verb.name, quoted(verb.doc));
    const std::string after = fmt::format("complete -c cambium -n '__fish_seen_subcommand_from {}'", verb.name);
    for (const auto& word : verb.words)
      if (!word.flags.empty()) out += fish_flag(verb, word);
    if (const auto first = first_words(verb, names); !first.empty())
      out += after + " -a " + quoted(join(first, " ")) + "\n";
    const auto argument = argument_of(verb);
    if (argument == Argument::deck) out += after + " -k -a '(__fish_complete_suffix .yaml)'\n";
    if (argument == Argument::folder) out += after + " -a '(__fish_complete_directories)'\n";
  }
  for (const auto& kind : names.kinds)
    out += fmt::format(
        "complete -c cambium -n '__fish_seen_subcommand_from doc; and __fish_seen_subcommand_from {}' -a {}\n",
        kind.name, quoted(join(kind.types, " ")));
  return out;
}

}  // namespace cambium::shell
