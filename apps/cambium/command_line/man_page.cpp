#include <fmt/format.h>

#include "apps/cambium/command_line/command_tree.hpp"
#include "apps/cambium/command_line/environment.hpp"
#include "core/base/build_info.hpp"
#include "core/base/text.hpp"

namespace cambium {

/// Escapes text for roff: hyphens that can be copied, no line that begins with a roff request.
static std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
  }
  return !out.empty() && (out[0] == '.' || out[0] == '\'') ? "\\&" + out : out;
}

static std::string entry(const CommandWord& word) {
  std::string tag = word.flags.empty() ? fmt::format("\\fI{}\\fR", roff(word.name)) : "";
  for (const auto& flag : word.flags) tag += fmt::format("{}\\fB{}\\fR", tag.empty() ? "" : ", ", roff(flag));
  if (word.takes_value) tag += " \\fIvalue\\fR";
  return fmt::format(".RS\n.TP\n{}\n{}\n.RE\n", tag, roff(word.doc));
}

static std::string synopsis(const CommandTree& command) {
  std::string line;
  for (const auto& word : command.words)
    if (word.flags.empty())
      line +=
          word.required ? fmt::format(" \\fI{}\\fR", roff(word.name)) : fmt::format(" [\\fI{}\\fR]", roff(word.name));
  return line;
}

static std::string section(const CommandTree& command, const std::string& above) {
  const std::string name = above + " " + command.name;
  std::string out = fmt::format(".SS \"{}{}\"\n{}\n", roff(name), synopsis(command), roff(command.doc));
  for (const auto& word : command.words)
    if (word.flags.empty() || word.flags.back() != "--help") out += entry(word);
  for (const auto& verb : command.verbs) out += section(verb, name);
  return out;
}

std::string man_page(const CommandTree& tree) {
  std::string out = fmt::format(".TH CAMBIUM 1 \"\" \"cambium {}\" \"User Commands\"\n.SH NAME\ncambium \\- {}\n",
                                build_info().version, "simulate, train and simulate again, from one deck");
  out +=
      ".SH SYNOPSIS\n.B cambium\n.I command\n[\\fIargument\\fR ...]\n.br\n.B mpirun \\-np\n.I ranks\n.B cambium run\n"
      ".I deck.yaml\n";
  out += fmt::format(".SH DESCRIPTION\n{}\n.SH COMMANDS\n", roff(tree.doc));
  for (const auto& verb : tree.verbs) out += section(verb, "cambium");
  out += ".SH \"EXIT STATUS\"\n";
  for (const auto& [code, meaning] :
       {std::pair{"0", "done"},
        {"2", "bad input: the message names the location and the remedy"},
        {"3", "stopped early by a signal or the wall time; the last line is the command that continues"},
        {"4", "numerical failure; the state is stored in a file"},
        {"70", "a fault of the program"}})
    out += fmt::format(".TP\n.B {}\n{}\n", code, roff(meaning));
  out += ".SH ENVIRONMENT\n";
  for (const auto& variable : environment_variables())
    out += fmt::format(".TP\n.B {}\n{}\n", variable.name, roff(variable.doc));
  out +=
      ".SH FILES\n.TP\n.I share/cambium/inputs\ndecks, found by their name: cambium run md/copper_melting\n"
      ".TP\n.I share/cambium/machines\nmachines for cambium plan, found by their name\n";
  out += ".SH EXAMPLES\n";
  for (const auto& [words, meaning] :
       {std::pair{"cambium check deck.yaml", "all problems of a deck; nothing is run"},
        {"mpirun \\-np 4 cambium run md/copper_melting stages[0].simulate.steps=1000", "a shipped deck on 4 ranks"},
        {"cambium restart runs/copper_melting", "continue from the newest checkpoint"},
        {"cambium doc potential lennard_jones", "the keys of a type"},
        {"cambium report runs/copper_melting", "a page with pictures and timing"}})
    out += fmt::format(".TP\n.B {}\n{}\n", words, meaning);
  out += ".SH \"SEE ALSO\"\n.BR mpirun (1), .BR h5ls (1)\n";
  return out;
}

}  // namespace cambium
