#pragma once
#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace cambium {

/// The only way by which the library speaks. Rank 0 prints; the other ranks are silent.
/// Warnings are remembered with their count and repeated at the end of the run.
class Log {
 public:
  /// `out` may be null (silent). `speaking` is false on every rank but 0. `file` (optional) receives the same text.
  explicit Log(std::FILE* out = nullptr, bool speaking = true);
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  void tee(const std::string& path);   ///< also append everything to this file
  void info(std::string_view text);    ///< one line, newline added
  void warn(const std::string& text);  ///< printed the first time, counted always
  /// A line that overwrites itself (progress); nothing when stdout is not a terminal.
  void progress(std::string_view text);

  struct Warning {
    std::string text;
    int count;
  };
  std::vector<Warning> warnings() const;

 private:
  std::FILE* out_;
  std::FILE* file_ = nullptr;
  bool speaking_;
  bool terminal_;
  bool progress_shown_ = false;
  std::vector<std::string> order_;
  std::map<std::string, int> counts_;
};

}  // namespace cambium
