#pragma once

namespace cambium {

/// From now on kernels and copies of Kokkos are regions of a profile that is taken, by the names that they carry, and
/// sections of Timing are regions of a tool of Kokkos that is loaded. A tool sees what it saw before.
void observe_kernels();

}  // namespace cambium
