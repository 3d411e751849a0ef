#include "apps/cambium/command_line/command_tree.hpp"

#include <CLI/CLI.hpp>

#include "core/plugin/bench.hpp"

namespace cambium {

static CommandWord word_of(const CLI::Option& option) {
  CommandWord word;
  for (const auto& name : option.get_snames()) word.flags.push_back("-" + name);
  for (const auto& name : option.get_lnames()) word.flags.push_back("--" + name);
  if (word.flags.empty()) word.name = option.get_name(true);
  word.doc = option.get_description();
  word.takes_value = !word.flags.empty() && option.get_items_expected_max() > 0;
  word.required = option.get_required();
  return word;
}

CommandTree command_tree(const CLI::App& app) {
  CommandTree tree{app.get_name(), app.get_description(), {}, {}};
  for (const auto* option : app.get_options()) tree.words.push_back(word_of(*option));
  for (const auto* verb : app.get_subcommands([](const CLI::App*) { return true; }))
    tree.verbs.push_back(command_tree(*verb));
  return tree;
}

KnownNames known_names(const Registry& registry) {
  KnownNames names;
  for (const auto& kind : registry.kinds()) names.kinds.push_back({kind, registry.names(kind)});
  for (const auto& bench : registry.benches()) names.benches.push_back(bench.name);
  return names;
}

}  // namespace cambium
