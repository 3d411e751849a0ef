#include "core/train/tune/journal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>

#include "core/base/error.hpp"
#include "core/deck/node.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/io/hdf5/labels.hpp"
#include "core/parallel/stop_request.hpp"

namespace cambium::tune {

namespace {

/// Calls visit(name, member) for every plain column of the table of trials.
template <class V>
void for_each_column(V&& visit) {
  visit("number", &Trial::number);
  visit("known", &Trial::known);
  visit("copy_of", &Trial::copy_of);
  visit("reward", &Trial::reward);
  visit("started", &Trial::started);
  visit("seconds", &Trial::seconds);
  visit("best_epoch", &Trial::best_epoch);
  visit("epochs", &Trial::epochs);
  visit("attempts", &Trial::attempts);
  visit("worker", &Trial::worker);
}

/// Labels rows by trial index, at the root of the file, where xarray expects coordinates.
void name_rows(io::File& file) {
  const auto g = file.group("trials");
  io::write_dimension(file, "decision", g.dataset("genome").shape()[1]);
  io::write_dimension(file, "rung", g.dataset("rungs").shape()[1]);
  for (const auto& name : g.list()) {
    std::vector<std::string> along{"/trials/number"};
    if (name == "genome") along.push_back("/decision");
    if (name == "rungs") along.push_back("/rung");
    const bool seconds = name == "started" || name == "seconds";
    std::string words = name;
    std::replace(words.begin(), words.end(), '_', ' ');
    io::labelled(g.dataset(name), seconds ? "s" : "", words + " of the trial");
    if (name != "number") file.attach_scales("/trials/" + name, along);
    io::show_at_top(file, "/trials/" + name, name);
  }
  io::follow_cf(file);
}

void write_trials(io::File& file, const std::vector<Trial>& trials) {
  auto g = file.create_group("trials");
  if (trials.empty()) return;
  std::vector<std::int32_t> genomes, failed;
  for (const auto& t : trials) {
    genomes.insert(genomes.end(), t.genome.begin(), t.genome.end());
    failed.push_back(t.failed);
  }
  g.write("genome", io::tensor_of(genomes.data(), {std::ssize(trials), std::ssize(trials.front().genome)}));
  g.write("failed", failed);
  std::vector<double> rungs;
  for (const auto& t : trials) rungs.insert(rungs.end(), t.rungs.begin(), t.rungs.end());
  g.write("rungs", io::tensor_of(rungs.data(), {std::ssize(trials), std::ssize(rungs) / std::ssize(trials)}));
  for_each_column([&]<class T>(const char* name, T Trial::*member) {
    std::vector<T> column;
    for (const auto& t : trials) column.push_back(t.*member);
    g.write(name, column);
  });
  name_rows(file);
}

std::vector<Trial> trials_of(const io::File& file) {
  const auto g = file.group("trials");
  if (!g.exists("genome")) return {};
  const auto shape = g.dataset("genome").shape();
  const auto rungs = g.read<std::vector<double>>("rungs");
  const auto genomes = g.read<std::vector<std::int32_t>>("genome"),
             failed = g.read<std::vector<std::int32_t>>("failed");
  std::vector<Trial> out(shape[0]);
  for (std::size_t k = 0; k < out.size(); ++k) {
    const auto first = genomes.begin() + static_cast<std::ptrdiff_t>(k) * shape[1];
    out[k].genome.assign(first, first + shape[1]);
    out[k].failed = failed[k] != 0;
    const auto n = static_cast<std::ptrdiff_t>(rungs.size() / out.size()), at = static_cast<std::ptrdiff_t>(k) * n;
    out[k].rungs.assign(rungs.begin() + at, rungs.begin() + at + n);
  }
  for_each_column([&]<class T>(const char* name, T Trial::*member) {
    const auto column = g.read<std::vector<T>>(name);
    for (std::size_t k = 0; k < out.size(); ++k) out[k].*member = column.at(k);
  });
  return out;
}

void write_selection(io::File& file, const Selection& s) {
  auto g = file.create_group("selection");
  g.write("members", s.members);
  g.write("epochs", s.epochs);
  g.set_attribute("linear_share", s.linear_share);
  g.set_attribute("validation_r2", s.validation);
  g.set_attribute("trials", s.trials);
  g.set_attribute("test_evaluations", s.test_evaluations);
  g.set_attribute("test_r2", s.test);
}

Selection selection_of(const io::File& file) {
  const auto g = file.group("selection");
  Selection s;
  s.members = g.read<std::vector<std::int64_t>>("members");
  s.epochs = g.read<std::vector<std::int32_t>>("epochs");
  s.linear_share = g.attribute<double>("linear_share");
  s.validation = g.attribute<double>("validation_r2");
  s.trials = g.attribute<std::int64_t>("trials");
  s.test_evaluations = g.attribute<std::int32_t>("test_evaluations");
  s.test = g.attribute<double>("test_r2");
  return s;
}

/// Replaces the run's directory by "{run}" in file names of a key, as in the deck: a run that was moved is the same
/// search.
std::string movable(std::string key, std::string directory) {
  while (directory.size() > 1 && directory.ends_with('/')) directory.pop_back();
  if (directory.empty()) return key;
  static constexpr std::string_view before = " \"'[{(,\n", after = "/ \"'])},\n", run = "{run}";
  for (std::size_t at = 0; (at = key.find(directory, at)) != std::string::npos;) {
    std::size_t end = at + directory.size();
    const bool begins = at == 0 || before.find(key[at - 1]) != std::string_view::npos,
               ends = end == key.size() || after.find(key[end]) != std::string_view::npos;
    if (!begins || !ends) {
      at = end;
      continue;
    }
    while (end + 1 < key.size() && key[end] == '/' && key[end + 1] == '/') ++end;
    key.replace(at, end - at, run);
    at += run.size();
  }
  return key;
}

/// Directory of the run when its journal was written; empty if the stored deck does not contain it.
std::string directory_in(const io::File& journal) {
  if (!journal.has_attribute("resolved_deck")) return {};
  const auto text = journal.attribute<std::string>("resolved_deck");
  return text.empty() ? text : deck::parse(text, "deck.resolved.yaml")["run"]["directory"].text();
}

std::string run_of(const Context& context) {
  return std::filesystem::path(context.run_directory).parent_path().string();
}

}  // namespace

Journal::Journal(std::string path, std::string key, const Context& context)
    : path_(std::move(path)), key_(movable(std::move(key), run_of(context))), context_(context) {}

Journal::~Journal() {
  try {
    if (log_) flush();
  } catch (const std::exception& error) {
    context_.log.warn(std::string("the journal is not complete: ") + error.what());
  }
}

std::string Journal::log_path() const { return std::filesystem::path(path_).replace_extension(".jsonl").string(); }

bool Journal::load() {
  const bool logged = std::filesystem::exists(log_path()), table = std::filesystem::exists(path_);
  if (!logged && !table) return false;
  std::string key, written_in;
  if (table) {
    const io::File file = io::File::open(path_);
    key = file.attribute<std::string>("key");
    written_in = directory_in(file);
    trials_ = trials_of(file);
    if (file.exists("selection")) selection_ = selection_of(file);
  }
  if (logged) {
    auto content = TrialLog::read(log_path());
    key = content.key;
    if (content.trials.size() >= trials_.size()) trials_ = std::move(content.trials);
  }
  // Keys of earlier versions contain the directory itself, former or current.
  if (key != key_ && movable(key, run_of(context_)) != key_ && movable(key, written_in) != key_)
    throw InputError(
        fmt::format("'{}' records another search (space, strategy, training or data differ): give this run another "
                    "directory (run.directory=PATH), or remove the file to start afresh",
                    table ? path_ : log_path()));
  log_ = std::make_unique<TrialLog>(log_path(), key_, trials_);
  return true;
}

void Journal::open() {
  if (!log_) {
    std::filesystem::remove(path_);
    log_ = std::make_unique<TrialLog>(log_path(), key_, trials_);
  }
  if (!keeper_.joinable()) keeper_ = std::thread([this] { keep(); });
}

void Journal::add(Trial trial) {
  if (context_.stop) context_.stop->require_directory(true);
  open();
  log_->append(trial);
  const std::lock_guard lock(mutex_);
  if (failure_) std::rethrow_exception(failure_);
  trials_.push_back(std::move(trial));
  unsynchronised_ = true;
  wake_.notify_one();
}

void Journal::keep() {
  using Clock = std::chrono::steady_clock;
  auto due = Clock::now();
  bool stale = false;
  std::unique_lock lock(mutex_);
  while (!closing_) {
    auto awake = [&] { return closing_ || unsynchronised_; };
    if (stale)
      wake_.wait_until(lock, due, awake);
    else
      wake_.wait(lock, awake);
    if (closing_) return;
    const bool refresh = Clock::now() >= due;
    stale = !refresh;
    unsynchronised_ = false;
    const auto trials = refresh ? trials_ : std::vector<Trial>();
    const auto selection = selection_;  // of the search before it was resumed
    lock.unlock();
    std::exception_ptr failure;
    const auto start = Clock::now();
    try {
      log_->synchronise();
      if (refresh) write(trials, selection);
    } catch (...) {
      failure = std::current_exception();
    }
    // Writing takes longer with more trials; limits it to one twentieth of the time.
    if (refresh) due = Clock::now() + std::max<Clock::duration>(std::chrono::seconds(1), 20 * (Clock::now() - start));
    lock.lock();
    if (failure) failure_ = failure;
  }
}

void Journal::close() {
  if (!keeper_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    wake_.notify_one();
  }
  keeper_.join();
  closing_ = false;
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void Journal::flush() {
  close();
  if (log_) log_->synchronise();
  write(trials_, selection_);
}

void Journal::select(const Selection& selection) {
  {
    const std::lock_guard lock(mutex_);
    selection_ = selection;
  }
  flush();
}

void Journal::write(const std::vector<Trial>& trials, const std::optional<Selection>& selection) const {
  io::write_h5_atomically(path_, [&](io::File& file) {
    file.set_attribute("key", key_);
    file.set_attribute("resolved_deck", context_.resolved_deck);
    write_trials(file, trials);
    if (selection) write_selection(file, *selection);
  });
}

std::vector<Trial> read_trials(const std::string& path) {
  if (!path.ends_with(".jsonl")) return trials_of(io::File::open(path));
  if (!std::filesystem::exists(path)) throw InputError(fmt::format("no such file: '{}'", path));
  return TrialLog::read(path).trials;
}

}  // namespace cambium::tune
