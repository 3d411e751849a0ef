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

/// Selection from the trials, made before the test years were evaluated, and its result.
struct Selection {
  std::vector<std::int64_t> members;  ///< indices of trials
  std::vector<std::int32_t> epochs;   ///< of each
  double linear_share = 0.0;          ///< fraction of harmonics + ridge in the forecast
  double validation = 0.0;            ///< R2 on the blocked validation windows
  std::int64_t trials = 0;            ///< trials finished when it was made
  std::int32_t test_evaluations = 0;  ///< number of forecasts of the test years, including previous runs
  double test = 0.0;
};

/// Record of a search: finished trials in order of completion. A trial is recorded once its line is in the log
/// (`journal.jsonl` next to `path`), which costs microseconds and survives SIGKILL. A separate thread syncs lines to
/// disk and updates the HDF5 file (written to a temporary file and renamed). If the machine crashes, the last trials
/// are evaluated again: proposals depend only on a prefix of the record, which is preserved. Owned by one rank.
class Journal {
 public:
  /// `key` identifies what must not change when a search resumes (space, strategy, training, data). No file is touched
  /// before the first trial or load(); without load() the search starts from scratch.
  Journal(std::string path, std::string key, const Context& context);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  /// Loads the trials of existing files; false if there are none. InputError if they belong to another search.
  bool load();
  /// InputError if writing this or an earlier trial failed.
  void add(Trial trial);
  void select(const Selection& selection);
  /// Returns when everything is in the HDF5 file and on disk.
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

  std::mutex mutex_;  ///< guards the members below, and changes of trials_ while the thread runs
  std::condition_variable wake_;
  bool unsynchronised_ = false, closing_ = false;
  std::exception_ptr failure_;
  std::thread keeper_;
};

/// Trials of a journal (HDF5 or its log), for replays and plots.
std::vector<Trial> read_trials(const std::string& path);

}  // namespace cambium::tune
