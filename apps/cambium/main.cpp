// The one binary. Everything it can do stands in core/driver and the plugins.
#include <mpi.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/base/platform.hpp"
#include "core/driver/command_line/cli.hpp"
#include "core/parallel/kokkos.hpp"
#include "core/parallel/start_mpi.hpp"
#include "plugins/plugin_list.hpp"

/// Takes Kokkos' own arguments (--kokkos-threads=4) out of the command line. Given the others, some of its releases
/// answer --help in our place.
static std::vector<char*> take_kokkos_arguments(int& argc, char** argv) {
  char** const others = std::stable_partition(argv + 1, argv + argc,
                                              [](const char* word) { return std::strncmp(word, "--kokkos-", 9) != 0; });
  std::vector<char*> taken{argv[0]};
  taken.insert(taken.end(), others, argv + argc);
  argc = static_cast<int>(others - argv);
  taken.push_back(nullptr);
  return taken;
}

int main(int argc, char** argv) {
  cambium::apply_platform_settings(argv);
  cambium::listen_early(argc, argv);
  cambium::start_mpi(&argc, &argv);
  int code = 0;
  {
    auto arguments = take_kokkos_arguments(argc, argv);
    int count = static_cast<int>(arguments.size()) - 1;
    Kokkos::ScopeGuard kokkos(count, arguments.data());
    code = cambium::command_line(argc, argv, cambium::register_everything);
  }
  MPI_Finalize();
  return code;
}
