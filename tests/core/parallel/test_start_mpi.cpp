// What starting MPI leaves behind; every test executable is started by start_mpi().
#include <mpi.h>

#include <cstdlib>

#include "tests/catch.hpp"

TEST_CASE("MPI is started for threads that leave it to one, and children see none of our settings") {
  int provided = -1;
  MPI_Query_thread(&provided);
  CHECK(provided >= MPI_THREAD_FUNNELED);
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks > 1 || std::getenv("OMPI_COMM_WORLD_SIZE")) return;
  for (const char* name : {"OMPI_MCA_ess_singleton_isolated", "OMPI_MCA_ess", "OMPI_MCA_orte_ess_num_procs"})
    CHECK_FALSE(std::getenv(name));
}
