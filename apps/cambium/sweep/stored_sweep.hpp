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
  std::string command;  ///< as typed
};

/// For a folder that has the file; InputError if it is damaged.
StoredSweep stored_sweep(const std::string& directory);

/// Stores the definition of this sweep, or checks that the folder holds the same: InputError with the fix if it holds
/// another sweep, or a run. A sweep stored under former names is recognised. On one rank.
void claim_directory(const Sweep& sweep, const Context& context);

}  // namespace cambium
