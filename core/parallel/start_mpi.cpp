#include "core/parallel/start_mpi.hpp"

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

namespace cambium {

/// True if mpirun, srun or another launcher started this process, as one of several or as a single one.
static bool is_launched() {
  for (char** entry = environ; entry && *entry; ++entry)
    for (const std::string_view mark : {"OMPI_COMM_WORLD_", "PMI", "SLURM_PROCID", "ALPS_", "PALS_", "FLUX_"})
      if (std::string_view(*entry).starts_with(mark)) return true;
  return false;
}

void start_mpi(int* argc, char*** argv) {
  std::vector<const char*> ours;
#if defined(OPEN_MPI)
  // Without a daemon all singletons of a user would share one session folder and remove each other's files.
  constexpr std::pair<const char*, const char*> alone[] = {{"OMPI_MCA_ess_singleton_isolated", "1"},
                                                           {"OMPI_MCA_orte_create_session_dirs", "0"},
                                                           {"OMPI_MCA_pml", "ob1"},
                                                           {"OMPI_MCA_btl", "self"}};
  const bool theirs =
      std::any_of(std::begin(alone), std::end(alone), [](const auto& entry) { return std::getenv(entry.first); });
  if (!theirs && !is_launched())
    for (const auto& [name, value] : alone) setenv(name, value, 1), ours.push_back(name);
#endif
  int provided = 0;
  MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided);
  for (const char* name : ours) unsetenv(name);
}

}  // namespace cambium
