#pragma once

namespace cambium {

/// From now on kernels of Kokkos are regions of an active profile, under their names (a name with "copy" or "View"
/// moves data, one with "activate" is transcendental), and sections of Timing are regions of a loaded Kokkos tool. The
/// tool gets the same callbacks as before. Requires initialised Kokkos.
void observe_kernels();

}  // namespace cambium
