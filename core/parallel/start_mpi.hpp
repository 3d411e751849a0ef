#pragma once

namespace cambium {

/// MPI_Init_thread with MPI_THREAD_FUNNELED. A program that no launcher started talks to nobody: Open MPI is then told
/// so, and neither starts its daemon nor looks for networks, which takes longer than all else at the start. What the
/// user set of these settings stays; children of this program do not see ours.
void start_mpi(int* argc, char*** argv);

}  // namespace cambium
