#pragma once
#include "core/plugin/registry.hpp"

namespace cambium::c {

/// Starts MPI and Kokkos unless the program has; they end with the process.
void start();

/// Networks and plugins of this build, added to an empty registry.
Registry& filled(Registry& registry);

}  // namespace cambium::c
