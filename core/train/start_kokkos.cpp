#include "core/train/start_kokkos.hpp"

#include <cstdlib>

#include "core/parallel/kokkos.hpp"

namespace cambium::train {

void start_kokkos() {
  if (Kokkos::is_initialized()) return;
  Kokkos::initialize();
  std::atexit([] {
    if (Kokkos::is_initialized()) Kokkos::finalize();
  });
}

}  // namespace cambium::train
