#include "core/run/run_directory.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <random>
#include <set>

#include "core/base/build_info.hpp"
#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/deck/differences.hpp"
#include "core/deck/resolve.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "core/io/share_files.hpp"
#include "core/plugin/registry.hpp"

namespace cambium {

namespace fs = std::filesystem;

namespace {

constexpr const char* top_files[] = {run_files::finished, "log.txt", "provenance.yaml", "report.html"};

/// The note after the last line break; the rest of a long deck need not be parsed for it.
deck::Node note_of(const std::string& resolved) {
  const auto at = resolved.rfind("\nx-run:");
  return at == std::string::npos ? deck::Node() : deck::parse(resolved.substr(at + 1), run_files::deck)["x-run"];
}

/// The stored deck of an older run as it was written; none when it is missing or damaged.
deck::Node older_deck(const std::string& directory) {
  try {
    const std::string text = text_in(directory, run_files::deck);
    return text.empty() ? deck::Node() : deck::parse(text, run_files::deck);
  } catch (const InputError&) {
    return {};
  }
}

/// Folders of the stages of this deck and of the older one.
std::set<std::string> stage_folders_of_both(const std::string& directory, const ReadDeck& read) {
  std::set<std::string> all;
  for (const auto& folder : read.deck.stage_folders()) all.insert(folder);
  for (const auto& folder : stage_folders_of(older_deck(directory)["stages"]))
    if (!folder.empty() && fs::path(folder).filename() == folder) all.insert(folder);
  return all;
}

std::string first_file(const fs::path& folder) {
  std::error_code error;
  std::set<std::string> files;
  for (auto at = fs::recursive_directory_iterator(folder, error); !error && at != fs::recursive_directory_iterator();
       at.increment(error))
    if (!at->is_directory(error) && at->path().extension() != ".part") files.insert(at->path().string());
  for (const auto& file : files)
    if (fs::path(file).filename().string().starts_with("restart.")) return file;
  return files.empty() ? "" : *files.begin();
}

/// Overrides that make a restart equivalent to this deck; empty if they are too many.
std::string as_overrides(const std::vector<deck::Difference>& all) {
  std::string text;
  for (const auto& d : all) {
    if (!d.scalar || !d.path.starts_with("stages[")) return {};
    text += " " + shell_word(d.path + "=" + d.to);
  }
  return all.size() > 3 ? "" : text;
}

std::vector<deck::Difference> changed_keys(const ReadDeck& read, const Registry& registry) {
  try {
    auto all = deck::differences(stored_deck(text_in(read.deck.run.directory, run_files::deck), registry),
                                 deck::parse(read.resolved, "deck"));
    std::erase_if(all, [](const auto& d) { return d.path == "run.directory" || d.path == "run.name"; });
    return all;
  } catch (const InputError&) {
    return {};  // a damaged file
  }
}

/// A free name next to the directory: runs/copper_2.
std::string free_name(const std::string& directory) {
  std::string stem = directory;
  while (stem.size() > 1 && stem.ends_with('/')) stem.pop_back();
  if (fs::path(stem).filename() == "." || fs::path(stem).filename() == ".." || stem == "/") return "PATH";
  for (int n = 2;; ++n)
    if (const auto name = fmt::format("{}_{}", stem, n); !fs::exists(name)) return name;
}

void move_entry(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::rename(from, to, error);
  if (error) io::refuse_write(to.string(), error.message());
}

/// Completes the move of a run to `previous`, replacing an earlier backup.
void complete_move(const fs::path& part, const fs::path& target) {
  std::error_code error;
  fs::remove_all(target, error);
  if (error) io::refuse_write(target.string(), error.message());
  move_entry(part, target);
}

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

}  // namespace

std::string shell_word(const std::string& text) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-+=./:,@%").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), plain)) return text;
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string with_identity(const std::string& resolved, const std::string& id) {
  return fmt::format("{}x-run: {{id: {}, began: \"{:%Y-%m-%dT%H:%M:%SZ}\", build: \"{} ({})\"}}\n", resolved, id,
                     fmt::gmtime(std::time(nullptr)), build_info().version, build_info().git_hash);
}

std::string new_run_id() {
  std::random_device source;
  return fmt::format("r{:08x}{:08x}", source(), source());  // a letter, so that YAML takes it for a word
}

RunNote run_note_in(const std::string& resolved) {
  const deck::Node note = note_of(resolved);
  return {note["id"].text(), note["began"].text(), note["build"].text()};
}

std::string run_id_in(const std::string& resolved) { return run_note_in(resolved).id; }

deck::Node stored_deck(const std::string& text, const Registry& registry) {
  const deck::Node node = deck::parse(text, run_files::deck);
  try {
    const auto schema = deck::schema_of<DeckFile>();
    deck::Problems ignored;
    return deck::resolve(with_present_names(node, schema, registry, ignored), schema, registry);
  } catch (const std::exception&) {
    return node;
  }
}

std::string text_in(const std::string& directory, const std::string& name) {
  return text_of_file(fs::path(directory) / name);
}

std::string result_in(const std::string& directory, const ReadDeck& read) {
  for (const auto& folder : stage_folders_of_both(directory, read))
    if (const auto file = first_file(fs::path(directory) / folder); !file.empty())
      return fs::path(file).lexically_relative(directory).string();
  return {};
}

void refuse_used(const ReadDeck& read, const std::string& deck, const std::string& result, const Registry& registry) {
  const std::string& directory = read.deck.run.directory;
  const std::string place = shell_word(directory), path = shell_word(deck);
  const auto changed = changed_keys(read, registry);
  std::string note;
  for (std::size_t k = 0; k < std::min<std::size_t>(changed.size(), 4); ++k)
    note += fmt::format("{}{} is {} there and {} here", k ? ", " : "\nIts deck is another one: ", changed[k].path,
                        changed[k].from, changed[k].to);
  if (changed.size() > 4) note += fmt::format(", and {} more", changed.size() - 4);
  const bool whole = fs::exists(fs::path(directory) / run_files::deck);
  const std::string go_on =
      whole ? fmt::format("\n  cambium restart {}{}   continues it", place, as_overrides(changed)) : "";
  throw InputError(fmt::format(
      "'{}' holds a run already ({}), and `run` begins a new one. What to type instead:{}\n"
      "  cambium run {} --overwrite   begins again and keeps the older run in {}/{}\n"
      "  cambium run {} run.directory={}   leaves it unchanged and writes elsewhere{}",
      directory, result, go_on, path, place, run_files::previous, path, shell_word(free_name(directory)), note));
}

void move_aside(const std::string& directory, const ReadDeck& read) {
  const fs::path top = directory, target = top / run_files::previous,
                 part = top / (std::string(run_files::previous) + ".part");
  std::vector<std::string> names(std::begin(top_files), std::end(top_files));
  for (const auto& folder : stage_folders_of_both(directory, read)) names.push_back(folder);
  names.push_back(run_files::deck);  // last, since it determines which folders there are
  // A killed call left a part of the same run, which is completed, or all of an older one.
  const auto moved_before = [&](const std::string& name) { return is_there(top / name) && is_there(part / name); };
  if (std::any_of(names.begin(), names.end(), moved_before)) complete_move(part, target);
  std::error_code error;
  fs::create_directories(part, error);
  if (error) io::refuse_write(part.string(), error.message());
  for (const auto& name : names)
    if (is_there(top / name)) move_entry(top / name, part / name);
  complete_move(part, target);
}

void move_back(const std::string& directory, const ReadDeck& read) {
  const fs::path top = directory, older = top / run_files::previous;
  std::error_code error;
  for (const auto& folder : read.deck.stage_folders()) fs::remove_all(top / folder, error);
  std::vector<fs::path> entries;
  for (const auto& entry : fs::directory_iterator(older, error)) entries.push_back(entry.path());
  for (const auto& entry : entries) {
    fs::remove_all(top / entry.filename(), error);
    move_entry(entry, top / entry.filename());
  }
  fs::remove(older, error);
}

void refuse_link(const std::string& folder) {
  std::error_code ignored;
  if (!fs::is_symlink(fs::symlink_status(folder, ignored))) return;
  throw InputError(
      fmt::format("'{}' is a symbolic link to '{}': a stage replaces and removes files in its folder, and those may be "
                  "another run's; remove the link (rm {}), or move the whole run with run.directory=PATH",
                  folder, fs::read_symlink(folder, ignored).string(), shell_word(folder)));
}

void remove_checkpoints(const std::string& folder) {
  std::error_code error;
  std::vector<fs::path> found;
  for (auto at = fs::recursive_directory_iterator(folder, error); !error && at != fs::recursive_directory_iterator();
       at.increment(error))
    if (const auto name = at->path().filename().string(); name.starts_with("restart.") && name.ends_with(".h5"))
      found.push_back(at->path());
  for (const auto& path : found) io::remove_with_shares(path.string());
}

}  // namespace cambium
