#pragma once

namespace cambium::train {

/// Starts Kokkos if the host program has not, and finalises it at program exit.
void start_kokkos();

}  // namespace cambium::train
