#pragma once
#include <functional>

#include "core/plugin/registry.hpp"

namespace cambium {

/// Call before anything that takes time: a signal during start-up then stops the run in order, too.
void listen_early(int argc, char** argv);

/// The entire program except MPI, Kokkos and the list of plugins: parses the command line, runs the command, turns
/// errors into messages and exit codes. Returns the exit code, the same on every rank.
int command_line(int argc, char** argv, const std::function<void(Registry&)>& register_plugins);

}  // namespace cambium
