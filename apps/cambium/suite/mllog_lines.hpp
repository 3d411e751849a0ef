#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace cambium::train {

/// One line of a log.
struct MlLine {
  int line = 0;  ///< of the file, from 1
  std::int64_t time_ms = 0;
  std::string event, key;
  nlohmann::json value, metadata;
};

/// Result of a rule for a log.
struct Finding {
  int line = 0;  ///< 0: for the entire log
  std::string text;
  bool fails = true;  ///< false: a warning
};

struct MlLogFile {
  std::string path;
  std::vector<MlLine> lines;
  std::vector<Finding> findings;  ///< malformed lines

  std::vector<const MlLine*> all(const std::string& key) const;
  /// The first of this key; null when there is none.
  const MlLine* first(const std::string& key) const;
  const MlLine* last(const std::string& key) const;
  /// True if run_stop reports success.
  bool success() const;
};

/// Extracts the lines with `:::MLLOG` from a text; the mark may be anywhere in a line.
MlLogFile mllog_of(const std::string& text, const std::string& path = "");
/// InputError when the file cannot be read.
MlLogFile read_mllog(const std::string& path);

}  // namespace cambium::train
