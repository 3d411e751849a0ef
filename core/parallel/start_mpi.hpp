#pragma once

namespace cambium {

/// MPI_Init_thread with MPI_THREAD_FUNNELED. Without a launcher the program is a singleton: Open MPI is then configured
/// neither to start its daemon nor to search for networks, which dominates the start-up time. Settings of the user are
/// kept; child processes inherit neither ours nor those that the MPI library sets, so that they may call mpirun.
void start_mpi(int* argc, char*** argv);

}  // namespace cambium
