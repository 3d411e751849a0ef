#pragma once
#include <cstdint>
#include <string>

#include "core/base/log.hpp"
#include "core/base/timing.hpp"
#include "core/parallel/comm.hpp"

namespace cambium {

class Registry;
class StopRequest;

/// Services that a running object may use. Passed by reference; there are no globals.
struct Context {
  Comm& comm;
  Log& log;
  Timing& timing;
  const Registry* registry = nullptr;  ///< makes nested objects named in a deck
  std::uint64_t seed = 1;              ///< of the run; with Stream, id and step it addresses every random number
  std::string run_directory = ".";     ///< output folder of the current stage
  std::string resolved_deck = {};      ///< YAML of this run with all defaults, stored in every output
  std::string command_line = {};
  StopRequest* stop = nullptr;  ///< signals and wall time; long loops check it once per step
  bool dry_run = false;         ///< `cambium check`: construct, write nothing
  bool resume = false;          ///< continue from the newest checkpoint in run_directory
};

}  // namespace cambium
