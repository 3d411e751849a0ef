#include <fmt/format.h>

#include <algorithm>

#include "apps/cambium/command_line/completion.hpp"
#include "core/base/text.hpp"

namespace cambium::shell {

static std::string zsh_words(const CommandTree& command) {
  std::string out;
  for (const auto& word : command.words)
    for (const auto& flag : word.flags) {
      std::string doc = word.doc;
      std::replace(doc.begin(), doc.end(), '[', '(');
      std::replace(doc.begin(), doc.end(), ']', ')');
      std::replace(doc.begin(), doc.end(), ':', ',');
      out += ' ';
      out += quoted(fmt::format("{}[{}]{}", flag, doc, word.takes_value ? ":value:_files" : ""));
    }
  return out;
}

std::string zsh(const CommandTree& tree, const KnownNames& names) {
  std::string out =
      "#compdef cambium\n# Completion of cambium for zsh\n_cambium() {\n  local -a commands\n  commands=(\n";
  for (const auto& verb : tree.verbs) out += fmt::format("    {}\n", quoted(verb.name + ":" + verb.doc));
  out += "  )\n  if (( CURRENT == 2 )); then _describe command commands; return; fi\n  case $words[2] in\n";
  for (const auto& verb : tree.verbs) {
    out += fmt::format("    {}) _arguments -S{}", verb.name, zsh_words(verb));
    const auto argument = argument_of(verb);
    const auto first = first_words(verb, names);
    if (!first.empty()) out += " " + quoted(fmt::format("2:{}:({})", verb.name, join(first, " ")));
    if (verb.name == "doc") out += " '3:type:_cambium_types'";
    if (argument == Argument::deck) out += " '2:deck:_files -g \"*.yaml\"' '*:override:'";
    if (argument == Argument::folder) out += " '2:folder:_files -/' '*:override:'";
    out += ";;\n";
  }
  out += "  esac\n}\n_cambium_types() {\n  case $words[3] in\n";
  for (const auto& kind : names.kinds) out += fmt::format("    {}) compadd {};;\n", kind.name, join(kind.types, " "));
  out += fmt::format("    bench) compadd {};;\n  esac\n}}\n", join(names.benches, " "));
  return out + "if [ \"$funcstack[1]\" = _cambium ]; then _cambium \"$@\"; else compdef _cambium cambium; fi\n";
}

}  // namespace cambium::shell
