#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "core/train/tune/trial.hpp"

namespace cambium::tune {

/// Finished trials, one line of JSON each, behind a line that names the search. Lines are only ever added: what
/// append() has returned from survives the death of the process, what synchronise() has returned from survives that of
/// the machine. A line torn by either is cut off, so what is read is always a beginning of what was written.
class TrialLog {
 public:
  /// Starts a new file at `path`, with these trials.
  TrialLog(const std::string& path, const std::string& key, const std::vector<Trial>& trials);
  /// Goes on with an existing one; cuts off a torn end.
  explicit TrialLog(const std::string& path);
  ~TrialLog();
  TrialLog(const TrialLog&) = delete;
  TrialLog& operator=(const TrialLog&) = delete;

  /// InputError when the disk takes no more.
  void append(const Trial& trial);
  void synchronise() const;

  struct Content {
    std::string key;
    std::vector<Trial> trials;
    std::size_t bytes = 0;  ///< of the whole lines
  };
  static Content read(const std::string& path);

 private:
  void write(std::string_view text) const;
  std::string path_;
  int descriptor_ = -1;
};

}  // namespace cambium::tune
