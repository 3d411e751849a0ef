// LAMMPS with one more pair style. Command line and input files are LAMMPS' own.
#include <mpi.h>

#include "apps/lammps/kokkos_scope.hpp"
#include "apps/lammps/pair_cambium.hpp"
#include "core/parallel/start_mpi.hpp"
#include "force.h"
#include "input.h"
#include "lammps.h"

#ifndef CAMBIUM_LAMMPS_STATIC
#include <dlfcn.h>
#endif

static LAMMPS_NS::Pair* make_pair_cambium(LAMMPS_NS::LAMMPS* lmp) { return new LAMMPS_NS::PairCambium(lmp); }

static void add_styles(LAMMPS_NS::LAMMPS& lmp) { (*lmp.force->pair_map)["cambium"] = &make_pair_cambium; }

#ifndef CAMBIUM_LAMMPS_STATIC
/// Overrides the function of this name in LAMMPS' shared library: the command `clear` creates the style tables again
/// and calls it last.
void LAMMPS_NS::LAMMPS::post_create() {
  using Original = void (*)(LAMMPS*);
  const auto original = reinterpret_cast<Original>(dlsym(RTLD_NEXT, "_ZN9LAMMPS_NS6LAMMPS11post_createEv"));
  if (original) original(this);
  add_styles(*this);
}
#endif

int main(int argc, char** argv) {
  cambium::lammps::set_platform(argv);
  cambium::start_mpi(&argc, &argv);
  {
    cambium::lammps::KokkosScope kokkos(argv);
    LAMMPS_NS::LAMMPS lmp(argc, argv, MPI_COMM_WORLD);
    add_styles(lmp);
    lmp.input->file();
  }
  MPI_Finalize();
  return 0;
}
