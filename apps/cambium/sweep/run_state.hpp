#pragma once
#include <string>

namespace cambium {

/// Progress of one run of a sweep.
struct RunState {
  enum class Kind { missing, begun, done, failed } kind = Kind::missing;
  int code = 0;              ///< exit code of one that failed
  std::string reason;        ///< its message
  double seconds = 0.0;      ///< wall time of its last call; 0 if not recorded
  std::string text() const;  ///< "missing", "begun", "done", "failed"
};

/// From the folder of the run: its list of finished stages, else the outcome recorded by the sweep.
RunState state_of(const std::string& directory);

/// Records how a run ended. On one rank.
void store_state(const std::string& directory, const RunState& state);

}  // namespace cambium
