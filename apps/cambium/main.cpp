// The one binary: starts MPI and Kokkos, and hands the command line to apps/cambium/command_line.
#include <mpi.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

#include "apps/cambium/command_line/cli.hpp"
#include "apps/cambium/command_line/keep_going.hpp"
#include "core/base/platform.hpp"
#include "core/parallel/kokkos.hpp"
#include "core/parallel/memory.hpp"
#include "core/parallel/start_mpi.hpp"
#include "plugins/plugin_list.hpp"

/// Removes Kokkos' own arguments (--kokkos-threads=4) from the command line. Given the others, some of its releases
/// handle --help themselves.
static std::vector<char*> take_kokkos_arguments(int& argc, char** argv) {
  char** const others = std::stable_partition(argv + 1, argv + argc,
                                              [](const char* word) { return std::strncmp(word, "--kokkos-", 9) != 0; });
  std::vector<char*> taken{argv[0]};
  taken.insert(taken.end(), others, argv + argc);
  argc = static_cast<int>(others - argv);
  taken.push_back(nullptr);
  return taken;
}

#ifndef __SANITIZE_ADDRESS__
/// As the library's own, but also records the requested size, which std::bad_alloc does not contain.
void* operator new(std::size_t bytes) {
  while (true) {
    if (void* const memory = std::malloc(bytes ? bytes : 1)) return memory;
    cambium::note_refused_bytes(bytes);
    if (const auto handler = std::get_new_handler())
      handler();
    else
      throw std::bad_alloc();
  }
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
#endif

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a file that reaches the limit of its size is an error of the write
  if (const auto code = cambium::keep_going(argc, argv)) return *code;
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
