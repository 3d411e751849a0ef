#include <fmt/format.h>

#include "apps/cambium/command_line/completion.hpp"
#include "core/base/text.hpp"

namespace cambium::shell {

std::string bash(const CommandTree& tree, const KnownNames& names) {
  std::string out =
      "# Completion of cambium for bash\n_cambium() {\n"
      "  local current=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} words= files=\n"
      "  COMPREPLY=()\n  if [ \"$COMP_CWORD\" -eq 1 ]; then\n";
  out += fmt::format("    words='{} {}'\n  else\n    case $command in\n", join(names_of(tree.verbs), " "),
                     join(flags_of(tree), " "));
  for (const auto& verb : tree.verbs) {
    out += fmt::format("      {}) words='{}'", verb.name, join(flags_of(verb), " "));
    if (const auto first = first_words(verb, names); !first.empty())
      out += fmt::format("; if [ \"$COMP_CWORD\" -eq 2 ]; then words=\"$words {}\"; fi", join(first, " "));
    const auto argument = argument_of(verb);
    if (argument == Argument::deck) out += "; files='*.yaml'";
    if (argument == Argument::folder) out += "; files=/";
    out += ";;\n";
  }
  out += "    esac\n    if [ \"$command\" = doc ] && [ \"$COMP_CWORD\" -eq 3 ]; then\n      case ${COMP_WORDS[2]} in\n";
  for (const auto& kind : names.kinds)
    out += fmt::format("        {}) words='{}';;\n", kind.name, join(kind.types, " "));
  out += "        bench) words='" + join(names.benches, " ") + "';;\n      esac\n    fi\n  fi\n";
  out +=
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
      "  [ -z \"$files\" ] || [ \"${current#-}\" != \"$current\" ] || {\n"
      "    compopt -o filenames\n    COMPREPLY+=($(compgen -d -- \"$current\"))\n"
      "    [ \"$files\" = / ] || COMPREPLY+=($(compgen -f -X \"!$files\" -- \"$current\"))\n  }\n}\n"
      "complete -F _cambium cambium\n";
  return out;
}

}  // namespace cambium::shell
