#pragma once

namespace cambium {

/// From now on kernels of Kokkos are regions of a profile that is taken, by the names that they carry (a name with
/// "copy" or "View" moves data, one with "activate" is transcendental), and sections of Timing are regions of a tool of
/// Kokkos that is loaded. The tool sees all that it saw before. Kokkos is initialised.
void observe_kernels();

}  // namespace cambium
