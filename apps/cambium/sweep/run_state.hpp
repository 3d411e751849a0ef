#pragma once
#include <string>

namespace cambium {

/// How far one run of a sweep has come.
struct RunState {
  enum class Kind { missing, begun, done, failed } kind = Kind::missing;
  int code = 0;              ///< exit code of one that failed
  std::string reason;        ///< what it said then
  double seconds = 0.0;      ///< wall time of its last call; 0 where nobody wrote it down
  std::string text() const;  ///< "missing", "begun", "done", "failed"
};

/// From what lies in the folder of the run: its list of finished stages, else what the sweep wrote down about its end.
RunState state_of(const std::string& directory);

/// Writes down how a run ended. On one rank.
void store_state(const std::string& directory, const RunState& state);

}  // namespace cambium
