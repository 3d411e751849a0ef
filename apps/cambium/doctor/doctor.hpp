#pragma once
#include <string>

#include "core/base/error.hpp"
#include "core/plugin/registry.hpp"

namespace cambium {

struct DoctorOptions {
  std::string directory = ".";  ///< where runs would write
  bool quick = false;           ///< without the simulations
};

/// Collective: prints the features of this build, the layout of ranks, memory and files, and the results of checks with
/// known answers, which take less than a minute. `numerical_failure` (4) if one is wrong. InputError if the directory
/// is not writable.
ExitCode examine_installation(const DoctorOptions& options, Registry& registry, Context& context);

}  // namespace cambium
