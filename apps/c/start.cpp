#include "apps/c/start.hpp"

#include <cstdlib>

#include "core/parallel/start_mpi.hpp"
#include "core/train/register.hpp"
#include "core/train/start_kokkos.hpp"
#include "plugins/plugin_list.hpp"

namespace cambium::c {

void start() {
  int there = 0;
  MPI_Initialized(&there);
  if (!there) {
    start_mpi(nullptr, nullptr);
    std::atexit([] {
      int ended = 0;
      MPI_Finalized(&ended);
      if (!ended) MPI_Finalize();
    });
  }
  train::start_kokkos();
}

Registry& filled(Registry& registry) {
  train::register_training(registry);
  register_plugins(registry);
  return registry;
}

}  // namespace cambium::c
