#pragma once
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/parallel/context.hpp"
#include "core/train/tune/trial_log.hpp"

namespace cambium::tune {

/// Choice from the trials, before the test years were looked at, and its result.
struct Selection {
  std::vector<std::int64_t> members;  ///< numbers of trials
  std::vector<std::int32_t> epochs;   ///< of each
  double linear_share = 0.0;          ///< of harmonics + ridge in the forecast
  double validation = 0.0;            ///< R2 on the blocked validation windows
  std::int64_t trials = 0;            ///< finished when it was made
  std::int32_t test_evaluations = 0;  ///< how often the test years were forecast, runs before included
  double test = 0.0;
};

/// The record of a search: finished trials in the order in which they finished. A trial is recorded when its line is in
/// the log
/// (`journal.jsonl` beside `path`), which costs microseconds and survives SIGKILL; a thread of its own brings lines to
/// the disk and the HDF5 file, written beside itself and renamed, up to date. Should the machine die, the trials of the
/// last moments are evaluated again: proposals depend on a beginning of the record, and that is what is left. Owned by
/// one rank.
class Journal {
 public:
  /// `key` names what must not change when a search goes on (space, strategy, training, data). Nothing is touched
  /// before the first trial or load(); without load() the search starts afresh.
  Journal(std::string path, std::string key, const Context& context);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  /// Takes up the trials of existing files; false when there are none. InputError when they belong to another search.
  bool load();
  /// InputError when the disk refused this trial or one before.
  void add(Trial trial);
  void select(const Selection& selection);
  /// Returns when everything is in the HDF5 file and on the disk.
  void flush();

  const std::vector<Trial>& trials() const { return trials_; }
  const std::optional<Selection>& selection() const { return selection_; }
  const std::string& path() const { return path_; }
  std::string log_path() const;

 private:
  void open();
  void keep();
  void write(const std::vector<Trial>& trials, const std::optional<Selection>& selection) const;
  void close();

  std::string path_, key_;
  const Context& context_;
  std::vector<Trial> trials_;
  std::optional<Selection> selection_;
  std::unique_ptr<TrialLog> log_;

  std::mutex mutex_;  ///< guards what follows, and changes of trials_ while the thread runs
  std::condition_variable wake_;
  bool unsynchronised_ = false, closing_ = false;
  std::exception_ptr failure_;
  std::thread keeper_;
};

/// The trials of a journal (HDF5 or its log), for replays and pictures.
std::vector<Trial> read_trials(const std::string& path);

}  // namespace cambium::tune
