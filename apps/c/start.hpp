#pragma once
#include "core/plugin/registry.hpp"

namespace cambium::c {

/// MPI and Kokkos, where the program has not started them; they end with the process.
void start();

/// Networks and plugins of this build, added to an empty registry.
Registry& filled(Registry& registry);

}  // namespace cambium::c
