#include "core/parallel/start_mpi.hpp"

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace cambium {

/// True if mpirun, srun or another launcher started this process, as one of several or as a single one.
static bool is_launched() {
  for (char** entry = environ; entry && *entry; ++entry)
    for (const std::string_view mark : {"OMPI_COMM_WORLD_", "PMI", "SLURM_PROCID", "ALPS_", "PALS_", "FLUX_"})
      if (std::string_view(*entry).starts_with(mark)) return true;
  return false;
}

/// Names of the variables of the MPI library in the environment.
static std::set<std::string> settings_of_mpi() {
  std::set<std::string> out;
  for (char** entry = environ; entry && *entry; ++entry)
    for (const std::string_view mark : {"OMPI_", "OPAL_", "ORTE_", "PMIX_", "PRTE_"})
      if (const std::string_view line(*entry); line.starts_with(mark)) out.emplace(line.substr(0, line.find('=')));
  return out;
}

void start_mpi(int* argc, char*** argv) {
  const bool launched = is_launched();
  const auto before = settings_of_mpi();
#if defined(OPEN_MPI)
  // Without a daemon all singletons of a user would share one session folder and remove each other's files.
  constexpr std::pair<const char*, const char*> alone[] = {{"OMPI_MCA_ess_singleton_isolated", "1"},
                                                           {"OMPI_MCA_orte_create_session_dirs", "0"},
                                                           {"OMPI_MCA_pml", "ob1"},
                                                           {"OMPI_MCA_btl", "self"}};
  const bool theirs =
      std::any_of(std::begin(alone), std::end(alone), [](const auto& entry) { return std::getenv(entry.first); });
  if (!theirs && !launched)
    for (const auto& [name, value] : alone) setenv(name, value, 1);
#endif
  int provided = 0;
  MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided);
  if (launched) return;
  // A singleton of Open MPI describes itself in the environment (OMPI_MCA_ess=singleton), which makes an mpirun among
  // its child processes end at once, silently.
  for (const auto& name : settings_of_mpi())
    if (!before.contains(name)) unsetenv(name.c_str());
}

}  // namespace cambium
