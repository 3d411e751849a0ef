#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "apps/cambium/command_line/commands.hpp"
#include "core/base/text.hpp"
#include "core/deck/functions.hpp"
#include "core/deck/reference.hpp"
#include "core/io/shipped.hpp"
#include "core/plugin/bench.hpp"

namespace cambium {

namespace fs = std::filesystem;

namespace {

/// The kind that a word of decks or pages means: "stage", "potentials", "models"; any other word as it is.
std::string kind_meant(const std::string& word, const std::vector<std::string>& kinds) {
  const auto known = [&](const std::string& name) {
    return std::find(kinds.begin(), kinds.end(), name) != kinds.end();
  };
  const bool plural = word.ends_with('s') && !known(word) && word != "physics";
  const std::string single = plural ? word.substr(0, word.size() - 1) : word;
  if (single == "stage") return "task";
  if (single == "model") return "network";
  if (single == "data" || single == "data_set") return "dataset";
  if (single == "schedule") return "learning_rate";
  if (single == "output") return "writer";
  return known(single) || single == "function" || single == "bench" ? single : word;
}

/// Decks or machines that came with the program, as the command line takes their names, with the first line of each.
ExitCode list_shipped(const std::string& folder, Log& log) {
  for (const auto& name : shipped_names(folder)) {
    std::string line;
    std::getline(std::ifstream(fs::path(shared_folder(folder)) / (name + ".yaml")), line);
    log.info(fmt::format("  {:<36}{}", name, line.starts_with("# ") ? line.substr(2) : ""));
  }
  return ExitCode::done;
}

void list_functions(Log& log) {
  log.info("function");
  for (const auto& f : deck::formula_functions()) log.info(fmt::format("  {:<22}{}", f.call, f.doc));
}

/// All types of this name, of any kind; if there is none, those of which the word is a synonym.
std::string types_named(const Registry& registry, const std::string& name) {
  std::string found, meant;
  for (const auto& kind : registry.kinds()) {
    if (const auto* entry = registry.find(kind, name)) found += (found.empty() ? "" : "\n") + deck::markdown(*entry);
    if (const auto words = registry.elsewhere(kind, name); !words.empty())
      meant += fmt::format("{}{} '{}' {}", meant.empty() ? "" : "; ", kind, name, words);
  }
  if (found.empty() && !meant.empty()) throw InputError(meant);
  return found;
}

}  // namespace

ExitCode Commands::list(const std::string& word) {
  if (word == "deck" || word == "decks") return list_shipped("inputs", log_);
  if (word == "machine" || word == "machines") return list_shipped("machines", log_);
  const std::string kind = kind_meant(word, registry_.kinds());
  if (kind == "function") {
    list_functions(log_);
    return ExitCode::done;
  }
  bool found = kind.empty();
  for (const auto& k : registry_.kinds()) {
    if (!kind.empty() && k != kind) continue;
    found = true;
    log_.info(k);
    for (const auto& name : registry_.names(k)) {
      const auto* entry = registry_.listed(k, name);
      log_.info(fmt::format("  {:<22}{:<16}{}", name, entry->plugin, entry->doc));
    }
  }
  if (!found) throw InputError(fmt::format("there is no kind '{}'{}", kind, suggestion(kind, registry_.kinds())));
  if (!kind.empty()) return ExitCode::done;
  if (!registry_.commands().empty()) log_.info("tool");
  for (const auto& tool : registry_.commands())
    log_.info(fmt::format("  {:<32}{}",
                          (tool.plugin == "core" ? "cambium " : "cambium " + tool.plugin + " ") + tool.verb, tool.doc));
  log_.info("bench\n  `cambium bench` lists what can be measured");
  return ExitCode::done;
}

ExitCode Commands::doc(const std::string& word, const std::string& name, bool schema) {
  if (schema) {
    log_.info(deck::json_schema(deck::schema_of<DeckFile>(), registry_, "Cambium deck"));
    return ExitCode::done;
  }
  auto kinds = registry_.kinds();
  const std::string kind = kind_meant(word, kinds);
  if (kind == "function") {
    log_.info("# Functions of formulas\n\n" + deck::functions_markdown());
    return ExitCode::done;
  }
  if (kind == "bench") {
    if (!name.empty())
      log_.info(markdown(bench_named(registry_, name)));
    else
      for (const auto& bench : registry_.benches()) log_.info(markdown(bench));
    return ExitCode::done;
  }
  if (name.empty()) {
    if (!kind.empty() && std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) {
      const auto text = types_named(registry_, word);
      if (text.empty()) throw InputError(fmt::format("there is no kind '{}'{}", kind, suggestion(kind, kinds)));
      log_.info(text);
      return ExitCode::done;
    }
    if (kind.empty())
      log_.info("# A deck\n\n" + deck::markdown(deck::schema_of<DeckFile>()));
    else
      kinds = {kind};
    log_.info(deck::markdown(registry_, kinds));
    return ExitCode::done;
  }
  const auto* entry = registry_.find(kind, name);
  if (!entry) throw InputError(deck::unknown_type(registry_, kind, name));
  log_.info(deck::markdown(*entry));
  return ExitCode::done;
}

}  // namespace cambium
