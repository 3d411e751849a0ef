#include "apps/lammps/kokkos_scope.hpp"

#include "core/base/platform.hpp"
#include "core/parallel/kokkos.hpp"

namespace cambium::lammps {

void set_platform(char** argv) { apply_platform_settings(argv); }

struct KokkosScope::Guard {
  Kokkos::ScopeGuard kokkos;
  Guard(int& count, char** arguments) : kokkos(count, arguments) {}
};

KokkosScope::KokkosScope(char** argv) {
  int count = 1;  // LAMMPS reads the command line
  guard_ = std::make_unique<Guard>(count, argv);
}

KokkosScope::~KokkosScope() = default;

}  // namespace cambium::lammps
