#include "core/run/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <sstream>

#include "core/base/build_info.hpp"
#include "core/deck/differences.hpp"
#include "core/deck/placed_error.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "core/io/run_lock.hpp"
#include "core/parallel/agree.hpp"
#include "core/parallel/kernel_regions.hpp"
#include "core/parallel/stop_request.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/registry.hpp"
#include "core/run/node_memory.hpp"
#include "core/run/rank_watch.hpp"
#include "core/run/run_directory.hpp"
#include "core/run/summary/banner.hpp"
#include "core/run/summary/stage_files.hpp"
#include "core/run/summary/stage_results.hpp"
#include "core/run/summary/stage_summary.hpp"

namespace cambium {

namespace fs = std::filesystem;

namespace {

/// Adds the key's location to errors that a stage throws about its keys after construction.
template <class Action>
auto with_places(const deck::Node& keys, Action action) {
  try {
    return action();
  } catch (const deck::DeckError&) {  // has its location already
    throw;
  } catch (const KeyError& error) {
    throw deck::PlacedError(deck::placed(error, keys));
  }
}

/// Marker file in the folder of a stage whose inputs were changed since: it starts over.
constexpr const char* anew_file = "begin_anew";

void write_finished(const std::string& directory, const std::vector<std::string>& folders, std::size_t count) {
  std::string text;
  for (std::size_t k = 0; k < count; ++k) text += folders[k] + "\n";
  io::write_file_atomically((fs::path(directory) / run_files::finished).string(), text);
}

void make_directory(const std::string& path, const Comm& comm) {
  io::on_root(comm, [&] {
    std::error_code error;
    fs::create_directories(path, error);
    if (error)
      throw InputError(fmt::format("cannot make the folder '{}': {}; choose another with run.directory=PATH", path,
                                   error.message()));
  });
}

/// One run in its directory, from the lock to the last stage.
class Run {
 public:
  Run(const ReadDeck& read, const RunOptions& options, Context& context)
      : read_(read), options_(options), context_(context), top_(read.deck.run.directory),
        folders_(read.deck.stage_folders()) {}
  ~Run() {
    if (context_.stop) context_.stop->guard({});
  }

  ExitCode operator()();

 private:
  ExitCode run();
  void hold();
  void begin();
  void go_on();
  void make_room();
  std::size_t finished() const;
  std::string last_words() const;
  void say_what_changed(const std::string& before);
  void rename_folders(const std::string& before);
  bool run_stage(std::size_t k);
  Task::Outcome run_with_page(Task& task);
  void accept_change(std::size_t k);

  const ReadDeck& read_;
  const RunOptions& options_;
  Context& context_;
  const std::string top_;
  const std::vector<std::string> folders_;
  std::unique_ptr<io::RunLock> lock_;  ///< on rank 0
  std::vector<std::string> found_;     ///< first messages of the log
  bool moved_ = false;                 ///< an older run was moved aside
  bool changed_ = false;  ///< a stage is resumed with other keys, so later stages that depend on it run again
};

void Run::hold() {
  io::on_root(context_.comm, [&] {
    lock_ = std::make_unique<io::RunLock>(top_, context_.command_line, context_.comm.size() > 1,
                                          [&](const std::string& text) { context_.log.info(text); });
  });
  if (context_.stop && lock_) context_.stop->guard([this](bool look) { return lock_->lost(look); });
}

/// Lines of the list of finished stages.
int listed_stages(const std::string& directory) {
  int n = 0;
  std::istringstream in(text_in(directory, run_files::finished));
  for (std::string line; std::getline(in, line);) ++n;
  return n;
}

/// How to resume the run after a rank has died. Any rank, in a thread of its own.
std::string Run::last_words() const {
  const auto k = static_cast<std::size_t>(listed_stages(top_));
  const auto found = k < folders_.size() ? checkpoints_from_newest((fs::path(top_) / folders_[k]).string())
                                         : std::vector<std::string>();
  return fmt::format("{}. Resume with:\n  cambium restart {}",
                     found.empty() ? fmt::format("There is no checkpoint of stage {} yet, which begins again", k + 1)
                                   : fmt::format("Its newest checkpoint is {}",
                                                 fs::path(found.front()).lexically_relative(top_).string()),
                     shell_word(top_));
}

std::size_t Run::finished() const {
  const int n = context_.comm.root() ? listed_stages(top_) : 0;
  return std::min(static_cast<std::size_t>(context_.comm.max(n)), folders_.size());
}

/// An older run is kept unless --overwrite was given and the first stage of the new one can be constructed.
void Run::make_room() {
  std::string result;
  io::on_root(context_.comm, [&] {
    result = result_in(top_, read_);
    if (!result.empty() && !options_.overwrite) refuse_used(read_, options_.deck, result, *context_.registry);
  });
  context_.comm.broadcast(result);
  if (result.empty()) return;
  Log silent;
  Context trial{context_.comm,
                silent,
                context_.timing,
                context_.registry,
                context_.seed,
                (fs::path(top_) / folders_.at(0)).string(),
                context_.resolved_deck,
                context_.command_line,
                context_.stop,
                true,
                false};
  const auto& first = read_.deck.stages[0];
  with_places(first.node, [&] { examine_stage(first, trial); });
  io::on_root(context_.comm, [&] { move_aside(top_, read_); });
  moved_ = true;
  found_.push_back(fmt::format("the older run is kept in {}, until the next --overwrite",
                               (fs::path(top_) / run_files::previous).string()));
}

void Run::begin() {
  make_room();
  std::string id;
  io::on_root(context_.comm, [&] {
    id = new_run_id();
    const auto finished = fs::path(top_) / run_files::finished;
    std::error_code error;
    fs::remove(finished, error);
    if (error) io::refuse_write(finished.string(), error.message());
  });
  context_.comm.broadcast(id);
  context_.resolved_deck = with_identity(read_.resolved, id);
  io::on_root(context_.comm,
              [&] { io::write_file_atomically((fs::path(top_) / run_files::deck).string(), context_.resolved_deck); });
}

/// Keeps the identity that the run began with.
void Run::go_on() {
  std::string before;
  io::on_root(context_.comm, [&] { before = text_in(top_, run_files::deck); });
  context_.comm.broadcast(before);
  rename_folders(before);
  say_what_changed(before);
  const auto at = before.rfind("\nx-run:");
  if (at != std::string::npos) {
    context_.resolved_deck = read_.resolved + before.substr(at + 1);
    return;
  }
  std::string id = new_run_id();  // begun by a version without run ids
  context_.comm.broadcast(id);
  context_.resolved_deck = with_identity(read_.resolved, id);
}

/// Folders of stages whose types had other names when the run began.
void Run::rename_folders(const std::string& before) {
  const auto former = stage_folders_of(deck::parse(before, run_files::deck)["stages"]);
  for (std::size_t k = 0; k < std::min(former.size(), folders_.size()); ++k) {
    if (former[k].empty() || former[k] == folders_[k]) continue;
    const auto from = fs::path(top_) / former[k], to = fs::path(top_) / folders_[k];
    io::on_root(context_.comm, [&] {
      if (!fs::is_directory(from) || fs::exists(to)) return;
      fs::rename(from, to);
      found_.push_back(fmt::format("renamed: the folder of stage {} was {}, is {}", k + 1, former[k], folders_[k]));
    });
  }
}

void Run::say_what_changed(const std::string& before) {
  for (const auto& d :
       deck::differences(stored_deck(before, *context_.registry), deck::parse(read_.resolved, run_files::deck))) {
    if (d.path == "run.directory") continue;
    if (d.path == "run.seed")
      throw InputError(
          fmt::format("run.seed was {} when '{}' began, and every random number since follows from it: it cannot "
                      "become {}; begin a new run with run.directory=PATH",
                      d.from, top_, d.to));
    found_.push_back(fmt::format("changed: {} was {}, is {}", d.path, d.from, d.to));
  }
  const std::string build = fmt::format("{} ({})", build_info().version, build_info().git_hash),
                    older = run_note_in(before).build;
  if (!older.empty() && older != build)
    found_.push_back(fmt::format("begun by another build: {}; this is {}", older, build));
}

/// Stages that follow from a changed one are done again, whenever that will be.
void Run::accept_change(std::size_t k) {
  io::on_root(context_.comm, [&] {
    for (std::size_t later = k + 1; later < folders_.size(); ++later)
      if (const auto folder = fs::path(top_) / folders_[later]; fs::is_directory(folder))
        io::write_file_atomically((folder / anew_file).string(), "");
    io::write_file_atomically((fs::path(top_) / run_files::deck).string(), context_.resolved_deck);
  });
}

/// Stage summary, cite.bib and repeated warnings of all tasks are written only here.
Task::Outcome Run::run_with_page(Task& task) {
  context_.timing.reset();
  std::function<StageNotes()> watched;
  if (read_.deck.run.profile && options_.watch) watched = options_.watch(context_);
  const double started = wall_seconds();
  const auto outcome = task.run(context_);
  const double seconds = wall_seconds() - started;
  StageNotes notes;
  if (watched) notes = watched();
  StageSummary page = stage_summary_of(task);
  if (!page.work.seconds) page.work.seconds = seconds;
  page.lines.insert(page.lines.end(), notes.lines.begin(), notes.lines.end());
  page.files.insert(page.files.end(), notes.files.begin(), notes.files.end());
  print_stage_summary(page, context_);
  return outcome;
}

/// False when the stage was stopped early.
bool Run::run_stage(std::size_t k) {
  context_.run_directory = (fs::path(top_) / folders_[k]).string();
  make_directory(context_.run_directory, context_.comm);
  context_.log.info(fmt::format("\n--- stage {} of {}: {} -> {}", k + 1, folders_.size(), read_.deck.stages[k].type,
                                context_.run_directory));
  int anew = 0;
  io::on_root(context_.comm, [&] {
    if (context_.stop) context_.stop->require_directory(true);
    const auto mark = fs::path(context_.run_directory) / anew_file;
    std::error_code ignored;
    anew = !context_.resume || fs::exists(mark, ignored);
    if (anew) {
      remove_checkpoints(context_.run_directory);
      fs::remove(fs::path(context_.run_directory) / StageResults::file, ignored);
    }
    fs::remove(mark, ignored);
  });
  if (context_.comm.max(anew) > 0) context_.resume = false;
  const auto& stage = read_.deck.stages[k];
  const auto outcome =
      with_places(stage.node, [&] { return run_with_page(*context_.registry->make<Task>(stage, context_)); });
  io::on_root(context_.comm, [&] {
    if (context_.stop) context_.stop->require_directory(true);
  });
  if (changed_) accept_change(k);  // not before a stage has accepted it
  const bool stopped = outcome == Task::Outcome::stopped_early;
  if (!stopped || changed_) io::on_root(context_.comm, [&] { write_finished(top_, folders_, stopped ? k : k + 1); });
  context_.resume = false;  // later stages begin afresh
  return !stopped;
}

ExitCode Run::operator()() {
  try {
    return run();
  } catch (const InputError&) {
    // A deck that fails only when its first stage begins must not destroy an older run.
    if (moved_ && lock_ && lock_->lost(true).empty() && result_in(top_, read_).empty()) move_back(top_, read_);
    throw;
  }
}

ExitCode Run::run() {
  // Problems that would otherwise appear only after the first stage; that stage itself begins at once.
  if (!context_.resume && options_.check_later) options_.check_later(read_, 1, context_);
  make_directory(top_, context_.comm);
  io::on_root(context_.comm, [&] {
    for (const auto& folder : folders_) refuse_link((fs::path(top_) / folder).string());
  });
  hold();
  const RankWatch watch(context_.comm, [this] { return last_words(); });
  if (context_.resume)
    go_on();
  else
    begin();
  io::on_root(context_.comm, [&] { note_directory(top_); });
  std::size_t done = context_.resume ? finished() : 0;
  changed_ = context_.resume && read_.first_overridden;
  if (changed_) done = std::min<std::size_t>(done, *read_.first_overridden);
  if (context_.resume && options_.check_later) options_.check_later(read_, done + 1, context_);
  context_.log.tee((fs::path(top_) / "log.txt").string());
  print_banner(context_);
  write_provenance(top_, context_);
  for (const auto& text : found_) context_.log.info(text);
  const std::string place = shell_word(top_);
  if (context_.resume && done == folders_.size())
    context_.log.info(
        fmt::format("every stage of {} is done; a stage of which a key is changed is taken up again:\n  cambium "
                    "restart {} stages[{}].{}.KEY=VALUE",
                    top_, place, done - 1, read_.deck.stages.back().type));
  for (std::size_t k = done; k < folders_.size(); ++k) {
    if (context_.stop && context_.stop->agreed_before_stage()) {
      context_.log.info(fmt::format("stopped by {} before stage {} began. Resume with:\n  cambium restart {}",
                                    context_.stop->reason(), k + 1, place));
      return ExitCode::stopped_early;
    }
    if (run_stage(k)) continue;
    context_.log.info(fmt::format("stopped by {}; a checkpoint is written. Resume with:\n  cambium restart {}",
                                  context_.stop ? context_.stop->reason() : "request", place));
    return ExitCode::stopped_early;
  }
  return ExitCode::done;
}

}  // namespace

ExitCode run_stages(const ReadDeck& read, const RunOptions& options, Context& context) {
  observe_kernels();
  return Run(read, options, context)();
}

}  // namespace cambium
