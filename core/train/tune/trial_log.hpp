#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "core/train/tune/trial.hpp"

namespace cambium::tune {

/// Finished trials, one line of JSON each, after a line that identifies the search. The log is append-only: after
/// append() returns, a trial survives a process crash; after synchronise(), a system crash. A line truncated by either
/// is removed, so reads always return a prefix of what was written.
class TrialLog {
 public:
  /// Creates a new file at `path` with these trials.
  TrialLog(const std::string& path, const std::string& key, const std::vector<Trial>& trials);
  /// Opens an existing file for appending; removes a truncated last line.
  explicit TrialLog(const std::string& path);
  ~TrialLog();
  TrialLog(const TrialLog&) = delete;
  TrialLog& operator=(const TrialLog&) = delete;

  /// InputError if writing fails.
  void append(const Trial& trial);
  void synchronise() const;

  struct Content {
    std::string key;
    std::vector<Trial> trials;
    std::size_t bytes = 0;  ///< of the complete lines
  };
  static Content read(const std::string& path);

 private:
  void write(std::string_view text) const;
  std::string path_;
  int descriptor_ = -1;
};

}  // namespace cambium::tune
