#pragma once
#include <string>

#include "core/base/error.hpp"
#include "core/plugin/registry.hpp"

namespace cambium {

struct DoctorOptions {
  std::string directory = ".";  ///< where runs would write
  bool quick = false;           ///< without the simulations
};

/// Collective: prints what this build can do, where ranks, memory and files are, and the results of checks with known
/// answers, less than a minute of them. `numerical_failure` (4) when one is wrong. InputError when the directory cannot
/// be written to.
ExitCode examine_installation(const DoctorOptions& options, Registry& registry, Context& context);

}  // namespace cambium
