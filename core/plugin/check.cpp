#include "core/plugin/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <new>

#include "core/base/key_error.hpp"
#include "core/base/text.hpp"
#include "core/deck/placed_error.hpp"
#include "core/parallel/memory.hpp"
#include "core/plugin/registry.hpp"
#include "core/plugin/task.hpp"

namespace cambium {

namespace fs = std::filesystem;

bool Check::look(const deck::Node& keys, const std::function<void()>& action) {
  const auto placed = [&](const std::string& text) { problem(deck::placed(text, keys)); };
  try {
    action();
    return true;
  } catch (const deck::PlacedError& error) {  // has its location already
    problem({error.what(), error.id()});
  } catch (const deck::DeckError& error) {
    problem({error.what(), {}});
  } catch (const InputError& error) {
    problem(deck::placed(error, keys));
  } catch (const NumericalError& error) {
    placed(fmt::format("the first step already fails: {}", error.what()));
  } catch (const std::bad_alloc&) {
    placed("there is not enough memory here to check it; use a machine with more, or make it smaller");
  } catch (const std::exception& error) {
    const std::string memory = memory_refusal(error);
    if (memory.empty()) throw;
    placed(memory);
  }
  return false;
}

void Check::problem(deck::PlacedText one) {
  if (std::find(problems_.begin(), problems_.end(), one) == problems_.end()) problems_.push_back(std::move(one));
  if (!stages_.empty()) ++stage().problems;
}

void Check::begin(Stage stage) {
  stages_.push_back(std::move(stage));
  state_ = nullptr;
}

void Check::will_write(Promise promise) {
  stage().says_files = true;
  stage().promises.push_back(std::move(promise));
}

void Check::not_looked_at(const std::string& what) {
  const std::string line = fmt::format("stage {} ({}): {}", stages_.size(), stage().name, what);
  if (std::find(unseen_.begin(), unseen_.end(), line) == unseen_.end()) unseen_.push_back(line);
}

void Check::memory(const std::string& what, double bytes) { stage().memory.emplace_back(what, bytes); }

/// Bytes of a file, or of all files in a folder.
static double bytes_of(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_regular_file(path, ignored)) return static_cast<double>(fs::file_size(path, ignored));
  if (!fs::is_directory(path, ignored)) return 0.0;
  double sum = 0.0;
  int left = 10000;  // of files; more are not a data set
  const fs::recursive_directory_iterator end;
  for (fs::recursive_directory_iterator file(path, ignored); file != end && left-- > 0; file.increment(ignored))
    if (file->is_regular_file(ignored)) sum += static_cast<double>(file->file_size(ignored));
  return sum;
}

void Check::reads(const deck::Node& keys) {
  constexpr double seconds_per_byte = 4e-9;
  if (keys.is_scalar() && !keys.text().empty()) {
    const double bytes = bytes_of(keys.text().substr(0, keys.text().find('#')));
    if (bytes > 1e6) memory(fs::path(keys.text()).filename().string(), bytes);
    effort(seconds_per_byte * bytes);
  }
  for (const auto& item : keys.items()) reads(item);
  for (const auto& entry : keys.entries()) reads(entry.value);
}

void Check::duration(double seconds, const std::string& basis) {
  stage().seconds = stage().seconds.value_or(0.0) + seconds;
  stage().basis = basis;
}

bool Check::small() const {
  constexpr double most_bytes = 1e9, most_seconds = 1.5;
  const Stage& now = stages_.back();
  double bytes = 0.0;
  for (const auto& part : now.memory) bytes += part.second;
  const bool little =
      now.tried && now.computes && now.problems == 0 && bytes <= most_bytes && now.effort <= most_seconds;
  return context_.comm.max(little ? 0 : 1) == 0;
}

std::optional<std::string> Check::inside(const std::string& path) const {
  if (directory_.empty()) return {};
  const std::string top = fs::path(directory_ + "/").lexically_normal().string(),
                    text = fs::path(path.substr(0, path.find('#'))).lexically_normal().string();
  if (!text.starts_with(top) || text.size() == top.size()) return {};
  return text.substr(top.size());
}

/// "restart.*.h5" holds "restart.100.h5", "train/" holds "train" and all in it.
static bool holds(const std::string& promise, const std::string& name) {
  if (promise.ends_with('/')) return name + "/" == promise || name.starts_with(promise);
  const auto star = promise.find('*');
  if (star == std::string::npos) return name == promise;
  return name.size() + 1 > promise.size() && name.starts_with(promise.substr(0, star)) &&
         name.ends_with(promise.substr(star + 1));
}

/// True if a file that is named as promised is one of a step that comes.
static bool comes(const Promise& promise, const std::string& name) {
  const auto star = promise.name.find('*');
  if (star == std::string::npos || promise.every == 0) return true;
  const auto step = parse_number(name.substr(star, name.size() + 1 - promise.name.size()));
  return step && std::fmod(*step, static_cast<double>(promise.every)) == 0.0 &&
         (promise.last == 0 || *step <= static_cast<double>(promise.last));
}

std::optional<Promise> Check::written_before(const std::string& path) const {
  const auto name = inside(path);
  for (std::size_t k = 0; name && k + 1 < stages_.size(); ++k)
    for (const auto& promise : stages_[k].promises) {
      if (!name->starts_with(stages_[k].folder + "/")) continue;
      const auto file = name->substr(stages_[k].folder.size() + 1);
      if (holds(promise.name, file) && comes(promise, file)) return promise;
      if (file.find('*') != std::string::npos && holds(file, promise.name)) return promise;  // pattern for any of them
    }
  return {};
}

std::vector<Promise> Check::models_beside(const std::string& path) const {
  std::vector<Promise> out;
  const auto name = inside(path);
  for (std::size_t k = 0; name && k + 1 < stages_.size(); ++k)
    for (const auto& promise : stages_[k].promises)
      if (name->starts_with(stages_[k].folder + "/") && promise.by.kind == Origin::model_of) out.push_back(promise);
  return out;
}

bool Check::waits(const std::string& path) const {
  const auto name = inside(path);
  return name && std::any_of(stages_.begin(), stages_.end() - 1, [&](const Stage& stage) {
           return *name == stage.folder || name->starts_with(stage.folder + "/");
         });
}

std::optional<std::string> Check::waits(const deck::Node& keys) const {
  if (keys.is_scalar() && waits(keys.text())) return keys.text();
  for (const auto& item : keys.items())
    if (const auto path = waits(item)) return path;
  for (const auto& entry : keys.entries())
    if (const auto path = waits(entry.value); path && !deck::is_note(entry.key)) return path;
  return {};
}

bool Origin::covers(const Origin& other) const {
  return kind == other.kind && (name.empty() || name == other.name || other.name.empty());
}

std::string Origin::text() const {
  static constexpr const char* words[] = {"",       "network ",  "output ",    "physics ",
                                          "stage ", "model of ", "fields of ", "ensemble of "};
  return words[kind] + (name.empty() ? "*" : name);
}

void Check::require_written_by(const std::string& key, const std::string& path,
                               const std::vector<Origin>& writers) const {
  const auto promise = written_before(path);
  if (!promise || !promise->by.known()) return;
  std::vector<std::string> expected;
  for (const auto& writer : writers) {
    if (writer.covers(promise->by)) return;
    expected.push_back(writer.text());
  }
  throw KeyError(
      "check.written_by", key,
      fmt::format("'{}' will be written by the {}; expected a file of: {}", path, promise->by.text(), join(expected)));
}

void Check::require_written_by(const std::string& key, const std::vector<std::string>& paths,
                               const std::vector<Origin>& writers) const {
  for (std::size_t k = 0; k < paths.size(); ++k) require_written_by(deck::child_path(key, k), paths[k], writers);
}

/// Names of a stage's output files, for messages.
static std::vector<std::string> names(const std::vector<Promise>& promises) {
  std::vector<std::string> out;
  for (const auto& promise : promises) out.push_back(promise.name);
  return out;
}

/// Reason why a path in the run's directory will not exist; empty if it will, or if that is unknown.
std::string Check::problem_of_path(const std::string& path, const std::vector<std::string>& folders) const {
  const auto name = inside(path);
  if (!name) return {};
  const auto of = [&](const std::string& folder) { return *name == folder || name->starts_with(folder + "/"); };
  const std::size_t here = stages_.size() - 1;
  for (std::size_t k = 0; k < folders.size(); ++k) {
    if (!of(folders[k])) continue;
    if (k == here)
      return fmt::format("'{}' is in the folder that this stage itself writes; name a file of a stage before", path);
    if (k > here) return fmt::format("'{}' is written by stage {}, which comes later; change their order", path, k + 1);
    const Stage& writer = stages_[k];
    if (*name == folders[k] || !writer.says_files || written_before(path)) return {};
    const std::string file = name->substr(folders[k].size() + 1);
    for (const auto& promise : writer.promises)
      if (holds(promise.name, file))
        return fmt::format("stage {} ({}) will not write '{}', but one such file every {} steps{}", k + 1, writer.name,
                           file, promise.every, promise.last ? fmt::format(", up to step {}", promise.last) : "");
    const auto known = names(writer.promises);
    const auto near = nearest(file, known);
    return fmt::format("stage {} ({}) will not write '{}'; it writes {}{}", k + 1, writer.name, file, join(known),
                       near ? fmt::format("; did you mean '{}'?", *near) : "");
  }
  std::error_code ignored;
  if (fs::exists(path.substr(0, path.find('#')), ignored)) return {};
  const std::string folder = name->substr(0, name->find('/'));
  const std::vector<std::string> before(folders.begin(), folders.begin() + static_cast<std::ptrdiff_t>(here));
  return fmt::format("no stage before this one writes in '{}'{}", folder,
                     before.empty() ? ", and this is the first" : suggestion(folder, before));
}

void Check::resolve_paths(const deck::Node& keys, const std::vector<std::string>& folders) {
  if (keys.is_scalar())
    if (const auto text = problem_of_path(keys.text(), folders); !text.empty())
      problem({fmt::format("{}: {}", keys.where(), text), "check.path"});
  for (const auto& item : keys.items()) resolve_paths(item, folders);
  for (const auto& entry : keys.entries())
    if (!deck::is_note(entry.key)) resolve_paths(entry.value, folders);
}

void examine_stage(const deck::Choice<Task>& stage, Context& context) {
  const fs::path folder = context.run_directory;
  Check check(folder.parent_path().string(), context);
  Check::Stage own;
  own.name = stage.type;
  own.folder = folder.filename().string();
  own.keys = stage.node;
  own.computes = false;
  check.begin(std::move(own));
  context.registry->make<Task>(stage, context)->examine(check);
  if (!check.problems().empty()) throw deck::PlacedError(check.problems());
}

bool is_still_to_come(const std::string& path, const Context& context) {
  if (!context.dry_run) return false;
  const fs::path run = fs::path(context.run_directory).parent_path();
  if (run.empty()) return !fs::exists(path);  // `cambium plan`, which belongs to no run, reads existing files
  const std::string top = run.lexically_normal().string() + "/";
  return fs::path(path).lexically_normal().string().starts_with(top);
}

}  // namespace cambium
