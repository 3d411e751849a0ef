#pragma once
#include <string>
#include <vector>

#include "core/base/recorder.hpp"
#include "core/parallel/context.hpp"

namespace cambium {

/// Parts of the time of one stage, on every rank: begins with this object.
class StageProfile {
 public:
  /// Collective.
  explicit StageProfile(Context& context);

  /// Collective, when the stage is over: what the last page says. Writes profile.json (classes and rows of every rank,
  /// peaks) and trace.json (the format of Chrome's trace viewer, which Perfetto opens) into the stage's folder; a disk
  /// that takes no more is a warning.
  std::vector<std::string> finish();
  std::vector<std::string> files() const { return files_; }

 private:
  Context& context_;
  Recorder recorder_;
  std::vector<std::string> files_;
};

}  // namespace cambium
