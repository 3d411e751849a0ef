#pragma once

namespace cambium::train {

/// Starts Kokkos where the program that this is part of has not, and ends it with the program.
void start_kokkos();

}  // namespace cambium::train
