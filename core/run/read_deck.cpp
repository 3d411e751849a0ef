#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <regex>
#include <sstream>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/deck/override.hpp"
#include "core/deck/resolve.hpp"
#include "core/io/shipped.hpp"
#include "core/parallel/agree.hpp"
#include "core/plugin/loader.hpp"
#include "core/plugin/registry.hpp"
#include "core/run/deck_file.hpp"

namespace cambium {

namespace {

/// Text of the deck, shared, so that no rank depends on its own file system.
std::string shared_text(const std::string& path, const Comm& comm) {
  std::string text;
  io::on_root(comm, [&] {
    if (std::filesystem::is_directory(path))
      throw InputError(
          fmt::format("'{}' is a folder, not a deck: give the path of a YAML file; a run that stopped continues with "
                      "`cambium restart FOLDER`",
                      path));
    std::ifstream in(path);
    if (!in)
      throw InputError(fmt::format(
          "cannot read the deck '{}': give the path of a YAML file, for example inputs/md/copper_melting.yaml, or the "
          "name of one that came with the program, for example md/copper_melting (`cambium list deck` names them)",
          path));
    std::ostringstream all;
    all << in.rdbuf();
    text = all.str();
  });
  comm.broadcast(text);
  return text;
}

/// First stage that an assignment such as stages[1].simulate.steps=20 belongs to.
std::optional<int> first_stage_of(const std::vector<std::string>& assignments) {
  std::optional<int> first;
  for (const auto& text : assignments) {
    int stage = 0;
    if (std::sscanf(text.c_str(), " stages[%d]", &stage) == 1) first = std::min(first.value_or(stage), stage);
  }
  return first;
}

/// Refuses texts that a shell would fill in, as "$SCRATCH/x", "${HOME}" and "~/x": they would name a folder '$SCRATCH'.
void refuse_shell_words(const deck::Node& node, deck::Problems& problems) {
  if (node.is_scalar()) {
    static const std::regex form(R"((~|\$[A-Za-z_]\w*|\$\{[A-Za-z_]\w*\})(/.*)?)");
    const std::string& text = node.text();
    if (text.size() > 1 && std::regex_match(text, form))
      problems.add(node,
                   fmt::format("found '{}', which a shell would fill in and a deck does not; write the path itself, "
                               "or give the key on the command line, outside of single quotes",
                               text));
  }
  for (const auto& item : node.items()) refuse_shell_words(item, problems);
  for (const auto& entry : node.entries())
    if (!entry.key.starts_with("x-")) refuse_shell_words(entry.value, problems);
}

std::string with_replaced(std::string text, const std::string& word, const std::string& by) {
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + by.size()))
    text.replace(at, word.size(), by);
  return text;
}

/// The same with `changed` applied to every text.
deck::Node with_texts(const deck::Node& node, const std::function<std::string(const std::string&)>& changed) {
  if (node.is_scalar()) {
    const std::string text = changed(node.text());
    if (text == node.text()) return node;
    return deck::Node::scalar(text, true, node.mark()).at_path(node.path());
  }
  if (node.is_list()) {
    std::vector<deck::Node> items;
    for (const auto& item : node.items()) items.push_back(with_texts(item, changed));
    return (node.is_alternatives() ? deck::Node::alternatives(std::move(items), node.mark())
                                   : deck::Node::list(std::move(items), node.mark()))
        .at_path(node.path());
  }
  if (!node.is_map()) return node;
  std::vector<deck::Node::Entry> entries;
  for (const auto& entry : node.entries()) entries.push_back({entry.key, entry.mark, with_texts(entry.value, changed)});
  return deck::Node::map(std::move(entries), node.mark()).at_path(node.path());
}

/// Replaces `word` in every text by `directory`: "{run}", so that a stage can name a file that an earlier one wrote,
/// and "{deck}", so that a deck can name a file in its own folder.
deck::Node with_directory(const deck::Node& node, const std::string& word, const std::string& directory) {
  return with_texts(node, [&](const std::string& text) { return with_replaced(text, word, directory); });
}

/// Refuses a folder other than the one to be restarted.
void set_directory(deck::Node& root, const std::string& directory) {
  const auto other = root["run"]["directory"];
  if (other.mark().source == "command line" && std::filesystem::absolute(other.text()).lexically_normal() !=
                                                   std::filesystem::absolute(directory).lexically_normal())
    throw InputError(
        fmt::format("a run continues where it is: run.directory={} was requested for '{}'; to continue elsewhere, copy "
                    "the folder and restart the copy",
                    other.text(), directory));
  root = deck::with_value(root, "run.directory", deck::Node::scalar(directory, true, root["run"].mark()),
                          root["run"].mark());
}

/// The folder of a deck's file.
std::string folder_of_deck(const std::string& path) {
  return std::filesystem::absolute(path).parent_path().lexically_normal().string();
}

/// run.directory, in which {deck} is the deck's folder, or runs/<name>, or runs/<name of the deck's file>.
std::string directory_of(const deck::Node& root, const std::string& path) {
  const auto run = root["run"];
  if (!run["directory"].text().empty()) return with_replaced(run["directory"].text(), "{deck}", folder_of_deck(path));
  const auto name = run["name"].text();
  return "runs/" + (name.empty() ? std::filesystem::path(path).stem().string() : name);
}

/// Type table that forwards to a registry and records the types that a deck requests.
class Asked : public deck::TypeTable {
 public:
  explicit Asked(const Registry& registry) : registry_(registry) {}
  const deck::TypeEntry* find(std::string_view kind, std::string_view name) const override {
    const auto* entry = registry_.find(kind, name);
    if (entry) found_.push_back(entry);
    return entry;
  }
  std::vector<std::string> names(std::string_view kind) const override { return registry_.names(kind); }
  const std::vector<const deck::TypeEntry*>& found() const { return found_; }

 private:
  const Registry& registry_;
  mutable std::vector<const deck::TypeEntry*> found_;
};

/// Warning for a deck whose `plugins` lacks the owner of one of its types; empty if none is missing. Such a deck runs
/// here, but not in a program that has this plugin only as a library.
std::string plugins_not_named(const std::vector<const deck::TypeEntry*>& types, std::vector<std::string> named,
                              const std::vector<std::string>& list) {
  std::vector<std::string> uses, missing;
  named.push_back("core");
  for (const auto* type : types) {
    if (std::find(named.begin(), named.end(), type->plugin) != named.end()) continue;
    named.push_back(type->plugin);
    missing.push_back(type->plugin);
    uses.push_back(fmt::format("{} '{}' of plugin '{}'", type->kind, type->name, type->plugin));
  }
  if (missing.empty()) return {};
  std::vector<std::string> whole = missing;
  whole.insert(whole.end(), list.begin(), list.end());
  return fmt::format("this deck uses {}: add {} to its list, plugins: [{}]", join(uses, " and "), join(missing),
                     join(whole));
}

/// Replaces "{run}" and "{deck}" in file names: returns the deck to be read, and the one to be stored.
std::pair<deck::Node, deck::Node> with_places(deck::Node root, const std::string& path, const std::string& directory) {
  const std::string folder = folder_of_deck(path);
  deck::Node stored = root;
  for (const auto& [word, place] : {std::pair<std::string, std::string>{"{deck}", folder}, {"{run}", directory}})
    if (root["stages"].is_list() && deck::to_yaml(root["stages"]).find(word) != std::string::npos) {
      root = root.with("stages", with_directory(root["stages"], word, place));
      if (word == "{deck}") stored = root;
    }
  return {root, stored};
}

std::vector<std::string> plugins_of(const deck::Node& root) {
  std::vector<std::string> plugins;
  for (const auto& name : root["plugins"].items()) plugins.push_back(name.text());
  return plugins;
}

bool leads_into_stages(std::string_view path) { return trim(path).starts_with("stages"); }

/// Loads the plugins of a deck; returns all names by which it may be meant to name them.
std::vector<std::string> load_plugins_of(const deck::Node& root, Registry& registry, Context& context) {
  const auto plugins = plugins_of(root);
  std::vector<std::string> named = plugins;
  for (const auto& plugin : load_plugins(plugins, registry, context.comm)) {
    named.push_back(plugin.name);
    if (const auto reason = reason_for_distrust(plugin.path); !reason.empty())
      context.log.warn(fmt::format("plugin '{}': {}", plugin.name, reason));
  }
  return named;
}

/// The deck with its directory.
deck::Node with_run_directory(deck::Node root, const std::string& path, const DeckOptions& options) {
  if (!options.directory.empty()) set_directory(root, options.directory);
  const std::string directory = directory_of(root, path);
  if (!root["run"].is_map()) return root;
  const auto place = deck::Node::scalar(directory, true, root["run"].mark());
  return deck::with_value(root, "run.directory", place, root["run"].mark());
}

}  // namespace

deck::Node with_present_names(const deck::Node& written, const deck::Schema& schema, const Registry& registry,
                              deck::Problems& problems) {
  deck::Node out = deck::present_names(written, schema, &registry, problems);
  if (!out["stages"].is_list() || !written["stages"].is_list()) return out;
  const auto from = stage_folders_of(written["stages"]), to = stage_folders_of(out["stages"]);
  const auto present = [&](const std::string& text) {
    if (!text.starts_with("{run}/")) return text;
    const auto begin = std::string_view("{run}/").size(), end = std::min(text.find('/', begin), text.size());
    const auto at = std::find(from.begin(), from.end(), text.substr(begin, end - begin));
    return at == from.end()
               ? text
               : text.substr(0, begin) + to[static_cast<std::size_t>(at - from.begin())] + text.substr(end);
  };
  return from == to ? out : out.with("stages", with_texts(out["stages"], present));
}

WrittenDeck written_deck(const std::string& given, const Comm& comm) {
  WrittenDeck out;
  out.path = shipped_file(given, "inputs", comm);
  out.root = deck::parse(shared_text(out.path, comm), out.path);
  return out;
}

deck::Node deck_heading(const WrittenDeck& written, const DeckOptions& options) {
  deck::Node root = written.root;
  const deck::Node at_test_size = options.test_size ? root["x-test"] : deck::Node{};  // outlives the root that it is of
  for (const auto& entry : at_test_size.entries())
    if (!leads_into_stages(entry.key)) root = deck::with_value(root, entry.key, entry.value, entry.mark);
  for (const auto& assignment : options.overrides)
    if (!leads_into_stages(assignment)) deck::override(root, assignment);
  return root;
}

LoadedDeck load_deck(const WrittenDeck& written, const DeckOptions& options, Registry& registry, Context& context,
                     deck::Problems& problems) {
  LoadedDeck out;
  out.named = load_plugins_of(deck_heading(written, options), registry, context);
  const auto schema = deck::schema_of<DeckFile>();
  deck::Node root = with_present_names(written.root, schema, registry, problems);
  if (options.test_size) deck::apply_test_overrides(root, schema, registry, problems);
  for (const auto& assignment : options.overrides) deck::override(root, assignment, schema, registry, problems);
  refuse_shell_words(root, problems);
  out.root = with_run_directory(root, written.path, options);
  return out;
}

ReadDeck read_deck(const deck::Node& deck, const std::string& path, const std::vector<std::string>& named,
                   const Registry& registry, Context& context, deck::Problems& problems) {
  const auto schema = deck::schema_of<DeckFile>();
  const auto [root, stored] =
      with_places(with_present_names(deck, schema, registry, problems), path, directory_of(deck, path));
  ReadDeck out;
  out.deck = deck::read<DeckFile>(root, problems, &registry);
  out.node = root;
  if (!problems.empty()) return out;
  const Asked asked(registry);
  out.resolved = deck::resolved(stored, schema, asked);
  if (const auto text = plugins_not_named(asked.found(), named, plugins_of(root)); !text.empty())
    context.log.warn(text);
  return out;
}

ReadDeck read_deck(const WrittenDeck& written, const DeckOptions& options, Registry& registry, Context& context) {
  deck::Problems problems;
  const auto [root, named] = load_deck(written, options, registry, context, problems);
  ReadDeck out = read_deck(root, written.path, named, registry, context, problems);
  problems.throw_if_any();
  for (const auto& hint : problems.hints()) context.log.warn(hint.line());
  out.first_overridden = first_stage_of(options.overrides);
  return out;
}

ReadDeck read_deck(const std::string& path, const DeckOptions& options, Registry& registry, Context& context) {
  return read_deck(written_deck(path, context.comm), options, registry, context);
}

}  // namespace cambium
