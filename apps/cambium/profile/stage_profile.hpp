#pragma once
#include <string>
#include <vector>

#include "core/base/recorder.hpp"
#include "core/parallel/context.hpp"

namespace cambium {

/// Profile of one stage, on every rank: begins with this object.
class StageProfile {
 public:
  /// Collective.
  explicit StageProfile(Context& context);

  /// Collective, at the end of the stage: lines for the stage summary. Writes profile.json (classes and rows of every
  /// rank, peaks) and trace.json (the format of Chrome's trace viewer, which Perfetto opens) into the stage's folder; a
  /// full disk gives a warning.
  std::vector<std::string> finish();
  std::vector<std::string> files() const { return files_; }

 private:
  Context& context_;
  Recorder recorder_;
  std::vector<std::string> files_;
};

}  // namespace cambium
