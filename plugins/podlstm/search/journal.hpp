#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/parallel/context.hpp"
#include "plugins/podlstm/search/trial.hpp"

namespace cambium::podlstm {

/// What was chosen from the trials, before the test years were looked at, and what they then gave.
struct Selection {
  std::vector<std::int64_t> members;   ///< numbers of trials
  std::vector<std::int32_t> epochs;    ///< of each
  double linear_share = 0.0;           ///< of harmonics + ridge in the forecast
  double validation = 0.0;             ///< R2 on the blocked validation windows
  std::int64_t trials = 0;             ///< finished when it was made
  std::int32_t test_evaluations = 0;
  double test = 0.0;
};

/// The record of a search: finished trials in the order in which they finished. Every change rewrites the file beside itself and
/// renames it, so that a process killed at any instant leaves the last whole state. Owned by one rank.
class Journal {
 public:
  /// `key` names what must not change when a search goes on (space, strategy, training, data).
  Journal(std::string path, std::string key, const Context& context);

  /// Takes up the trials of an existing file; false when there is none. InputError when it belongs to another search.
  bool load();
  void add(Trial trial);
  void select(const Selection& selection);

  const std::vector<Trial>& trials() const { return trials_; }
  const std::optional<Selection>& selection() const { return selection_; }
  const std::string& path() const { return path_; }

 private:
  void write() const;
  std::string path_, key_;
  const Context& context_;
  std::vector<Trial> trials_;
  std::optional<Selection> selection_;
};

/// The trials of a journal, for replays and pictures.
std::vector<Trial> read_trials(const std::string& path);

}  // namespace cambium::podlstm
