#include "apps/cambium/sweep/stored_sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/base/build_info.hpp"
#include "core/base/error.hpp"
#include "core/deck/differences.hpp"
#include "core/deck/former_names.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "core/plugin/registry.hpp"
#include "core/run/run_directory.hpp"

namespace cambium {

namespace fs = std::filesystem;
using deck::Node;

namespace {

Node node_of(const SweptKey& key) {
  return Node::map({{"path", Node::scalar(key.path, true)},
                    {"name", Node::scalar(key.name, true)},
                    {"unit", Node::scalar(key.unit, true)},
                    {"values", Node::list(key.values)}});
}

/// Its keys and the deck without the parts that may change from call to call.
Node content_of(const Sweep& sweep) {
  std::vector<Node> keys, folders;
  for (const auto& key : sweep.table.keys) keys.push_back(node_of(key));
  Node deck = deck::parse(sweep.resolved, run_files::deck);
  const Node run = deck["run"].without([](const auto& key) { return key == "directory" || key == "walltime"; });
  deck = deck.with("run", run);
  for (const auto& row : sweep.table.rows) folders.push_back(Node::scalar(row.folder, true));
  return Node::map({{"keys", Node::list(std::move(keys))},
                    {"zip", Node::scalar(sweep.table.zip ? "true" : "false")},
                    {"folders", Node::list(std::move(folders))},
                    {"first_deck", deck}});
}

std::string name_beside(const std::string& directory) {
  for (int n = 2;; ++n)
    if (const auto name = fmt::format("{}_{}", directory, n); !fs::exists(name)) return name;
}

[[noreturn]] void refuse_other(const Sweep& sweep, const std::vector<deck::Difference>& all) {
  std::string what;
  for (std::size_t k = 0; k < std::min<std::size_t>(all.size(), 4); ++k)
    what += fmt::format("{}{} is {} there and {} here", k ? ", " : "", all[k].path, all[k].from, all[k].to);
  if (all.size() > 4) what += fmt::format(", and {} more", all.size() - 4);
  throw InputError(
      fmt::format("'{}' holds another sweep: {}. Its runs do not belong to this table. What to do instead:\n"
                  "  give deck and keys as they were ({}/{})   continues it\n"
                  "  add run.directory={}   leaves it unchanged and writes elsewhere",
                  sweep.directory, what, sweep.directory, sweep_file, shell_word(name_beside(sweep.directory))));
}

Node parsed(const std::string& directory) {
  const std::string path = (fs::path(directory) / sweep_file).string();
  const Node node = deck::parse(text_in(directory, sweep_file), path);
  if (!node["keys"].is_list() || node["keys"].size() == 0 || !node["folders"].is_list() || !node["first_deck"].is_map())
    throw InputError(
        fmt::format("'{}' is damaged; remove it and call the sweep again, which keeps finished runs", path));
  return node;
}

/// Sweep stored by an earlier version, under present names.
Node under_present_names(const Node& stored, const deck::TypeTable& types) {
  const auto schema = deck::schema_of<DeckFile>();
  deck::Problems ignored;
  const Node deck = deck::present_names(stored["first_deck"], schema, &types, ignored);
  std::vector<Node> keys;
  for (const auto& key : stored["keys"].items()) {
    const auto path = deck::present_path(deck, key["path"].text(), schema, types, {}, ignored);
    keys.push_back(key.with("path", Node::scalar(path, true)));
  }
  return stored.with("keys", Node::list(std::move(keys))).with("first_deck", deck);
}

}  // namespace

StoredSweep stored_sweep(const std::string& directory) {
  const Node node = parsed(directory);
  StoredSweep out;
  out.command = node["command"].text();
  out.theory = node["theory"];
  out.table.zip = node["zip"].text() == "true";
  for (const auto& key : node["keys"].items())
    out.table.keys.push_back({key["path"].text(), key["name"].text(), key["unit"].text(), key["values"].items(), {}});
  add_rows(out.table);
  const auto& folders = node["folders"].items();
  for (std::size_t k = 0; k < std::min(folders.size(), out.table.rows.size()); ++k)
    out.table.rows[k].folder = folders[k].text();
  return out;
}

void claim_directory(const Sweep& sweep, const Context& context) {
  const fs::path top = sweep.directory;
  if (fs::exists(top / run_files::deck))
    throw InputError(fmt::format("'{}' holds a run, and a sweep needs a folder of its own: add run.directory={}",
                                 sweep.directory, shell_word(name_beside(sweep.directory))));
  const Node content = content_of(sweep);
  if (fs::exists(top / sweep_file)) {
    const Node older = parsed(sweep.directory).without([](const auto& key) {
      return key != "keys" && key != "zip" && key != "folders" && key != "first_deck";
    });
    auto all = deck::differences(under_present_names(older, *context.registry),
                                 deck::parse(deck::to_yaml(content), sweep_file));
    const auto of_keys = [](const auto& d) { return d.path != "folders"; };
    if (std::any_of(all.begin(), all.end(), of_keys))
      std::erase_if(all, [](const auto& d) { return d.path == "folders"; });
    if (!all.empty()) refuse_other(sweep, all);
  }
  Node stored = content;
  stored = stored.with("theory", sweep.theory.defined() ? sweep.theory : Node::map({}));
  stored = stored.with("command", Node::scalar(context.command_line, true));
  stored =
      stored.with("build", Node::scalar(fmt::format("{} ({})", build_info().version, build_info().git_hash), true));
  io::write_file_atomically((top / sweep_file).string(), deck::to_yaml(stored));
}

}  // namespace cambium
