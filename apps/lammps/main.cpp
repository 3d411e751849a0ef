// LAMMPS with one more pair style. Command line and input files are LAMMPS' own.
#include <mpi.h>

#include "apps/lammps/kokkos_scope.hpp"
#include "apps/lammps/pair_cambium.hpp"
#include "core/parallel/start_mpi.hpp"
#include "force.h"
#include "input.h"
#include "lammps.h"

static LAMMPS_NS::Pair* make_pair_cambium(LAMMPS_NS::LAMMPS* lmp) { return new LAMMPS_NS::PairCambium(lmp); }

int main(int argc, char** argv) {
  cambium::lammps::set_platform(argv);
  cambium::start_mpi(&argc, &argv);
  {
    cambium::lammps::KokkosScope kokkos(argv);
    LAMMPS_NS::LAMMPS lmp(argc, argv, MPI_COMM_WORLD);
    (*lmp.force->pair_map)["cambium"] = &make_pair_cambium;
    lmp.input->file();
  }
  MPI_Finalize();
  return 0;
}
