#pragma once
#include <string>

#include "apps/cambium/sweep/table.hpp"

namespace cambium {

/// File in the folder of a sweep that lists its runs.
inline constexpr const char* sweep_file = "sweep.yaml";

/// Table of a folder of runs.
struct StoredSweep {
  SweepTable table;
  deck::Node theory;
  std::string command;  ///< what was typed
};

/// For a folder that has the file; InputError where that is damaged.
StoredSweep stored_sweep(const std::string& directory);

/// Writes what this sweep is, or checks that the folder holds this one and none else: InputError with the fix where it
/// holds another sweep, or a run. A sweep that was stored under former names is known again. On one rank.
void claim_directory(const Sweep& sweep, const Context& context);

}  // namespace cambium
