#pragma once
#include <functional>

#include "core/plugin/registry.hpp"

namespace cambium {

/// Before anything that takes time: a signal that comes while a run starts up stops it in order, too.
void listen_early(int argc, char** argv);

/// The whole program but MPI, Kokkos and the list of plugins: parses the command line, runs the command, turns errors
/// into messages and exit codes. Returns the exit code, the same on every rank.
int command_line(int argc, char** argv, const std::function<void(Registry&)>& register_plugins);

}  // namespace cambium
