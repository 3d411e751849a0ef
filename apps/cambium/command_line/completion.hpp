#pragma once
#include <string>
#include <vector>

#include "apps/cambium/command_line/command_tree.hpp"

/// Common parts of the scripts for three shells.
namespace cambium::shell {

/// Candidates for the first argument of a command.
enum class Argument { none, deck, folder, kind, bench, shell };
Argument argument_of(const CommandTree& command);

std::vector<std::string> flags_of(const CommandTree& command);
std::vector<std::string> names_of(const std::vector<CommandTree>& verbs);

/// Names that can be the first argument of a command; empty if that is a file or a folder.
std::vector<std::string> first_words(const CommandTree& command, const KnownNames& names);

/// Text in single quotes. sh and fish both end a quote with ' and take \' outside of one.
std::string quoted(const std::string& text);

std::string bash(const CommandTree& tree, const KnownNames& names);
std::string zsh(const CommandTree& tree, const KnownNames& names);
std::string fish(const CommandTree& tree, const KnownNames& names);

}  // namespace cambium::shell
