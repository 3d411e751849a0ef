// The calls of MPI that send or wait, as regions of a profile. They stand here under their own names and call the
// profiling interface of the standard (MPI 3.1, chapter 14), so that messages of libraries are seen, too. Bytes are
// those that this rank gives away. The same calls are what a WaitClock counts. Another tool of that kind, loaded before
// this library, comes first.
#include <mpi.h>

#include "core/base/record/recorder.hpp"
#include "core/base/record/wait_clock.hpp"

namespace {

using cambium::Amount;
using cambium::KernelRegion;
using cambium::recorder;
using cambium::WorkKind;

double bytes_of(int count, MPI_Datatype type) {
  int size = 0;
  if (type != MPI_DATATYPE_NULL) PMPI_Type_size(type, &size);
  return static_cast<double>(count) * size;
}

int size_of(MPI_Comm comm) {
  int size = 1;
  PMPI_Comm_size(comm, &size);
  return size;
}

double own_bytes(const void* send, int count, MPI_Datatype type, const int* counts, MPI_Datatype received,
                 MPI_Comm comm) {
  if (send != MPI_IN_PLACE) return bytes_of(count, type);
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  return bytes_of(counts[rank], received);
}

double all_bytes(const int* counts, MPI_Datatype type, MPI_Comm comm) {
  double sum = 0.0;
  for (int k = 0, n = counts ? size_of(comm) : 0; k < n; ++k) sum += counts[k];
  return sum * bytes_of(1, type);
}

}  // namespace

#define CAMBIUM_MESSAGE(name, parameters, arguments, sent)                              \
  extern "C" int name parameters {                                                      \
    const cambium::Waiting waiting;                                                     \
    if (!recorder()) return P##name arguments;                                          \
    const KernelRegion region(#name, WorkKind::communication, Amount{.bytes = (sent)}); \
    return P##name arguments;                                                           \
  }

// clang-format off
CAMBIUM_MESSAGE(MPI_Send, (const void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c), (b, n, t, to, tag, c), bytes_of(n, t))
CAMBIUM_MESSAGE(MPI_Isend, (const void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request* r), (b, n, t, to, tag, c, r), bytes_of(n, t))
CAMBIUM_MESSAGE(MPI_Recv, (void* b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Status* s), (b, n, t, from, tag, c, s), 0)
CAMBIUM_MESSAGE(MPI_Irecv, (void* b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request* r), (b, n, t, from, tag, c, r), 0)
CAMBIUM_MESSAGE(MPI_Sendrecv, (const void* b, int n, MPI_Datatype t, int to, int tag, void* in, int m, MPI_Datatype u, int from, int other, MPI_Comm c, MPI_Status* s), (b, n, t, to, tag, in, m, u, from, other, c, s), bytes_of(n, t))
CAMBIUM_MESSAGE(MPI_Start, (MPI_Request* r), (r), 0)
CAMBIUM_MESSAGE(MPI_Startall, (int n, MPI_Request* r), (n, r), 0)
CAMBIUM_MESSAGE(MPI_Wait, (MPI_Request* r, MPI_Status* s), (r, s), 0)
CAMBIUM_MESSAGE(MPI_Waitall, (int n, MPI_Request* r, MPI_Status* s), (n, r, s), 0)
CAMBIUM_MESSAGE(MPI_Waitany, (int n, MPI_Request* r, int* k, MPI_Status* s), (n, r, k, s), 0)
CAMBIUM_MESSAGE(MPI_Test, (MPI_Request* r, int* f, MPI_Status* s), (r, f, s), 0)
CAMBIUM_MESSAGE(MPI_Testall, (int n, MPI_Request* r, int* f, MPI_Status* s), (n, r, f, s), 0)
CAMBIUM_MESSAGE(MPI_Probe, (int from, int tag, MPI_Comm c, MPI_Status* s), (from, tag, c, s), 0)
CAMBIUM_MESSAGE(MPI_Iprobe, (int from, int tag, MPI_Comm c, int* f, MPI_Status* s), (from, tag, c, f, s), 0)
CAMBIUM_MESSAGE(MPI_Barrier, (MPI_Comm c), (c), 0)
CAMBIUM_MESSAGE(MPI_Ibarrier, (MPI_Comm c, MPI_Request* r), (c, r), 0)
CAMBIUM_MESSAGE(MPI_Bcast, (void* b, int n, MPI_Datatype t, int root, MPI_Comm c), (b, n, t, root, c), bytes_of(n, t))
CAMBIUM_MESSAGE(MPI_Ibcast, (void* b, int n, MPI_Datatype t, int root, MPI_Comm c, MPI_Request* r), (b, n, t, root, c, r), bytes_of(n, t))
CAMBIUM_MESSAGE(MPI_Reduce, (const void* b, void* o, int n, MPI_Datatype t, MPI_Op op, int root, MPI_Comm c), (b, o, n, t, op, root, c), bytes_of(n, t))
CAMBIUM_MESSAGE(MPI_Allreduce, (const void* b, void* o, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c), (b, o, n, t, op, c), bytes_of(n, t))
CAMBIUM_MESSAGE(MPI_Iallreduce, (const void* b, void* o, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c, MPI_Request* r), (b, o, n, t, op, c, r), bytes_of(n, t))
CAMBIUM_MESSAGE(MPI_Exscan, (const void* b, void* o, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c), (b, o, n, t, op, c), bytes_of(n, t))
CAMBIUM_MESSAGE(MPI_Gather, (const void* b, int n, MPI_Datatype t, void* o, int m, MPI_Datatype u, int root, MPI_Comm c), (b, n, t, o, m, u, root, c), b == MPI_IN_PLACE ? 0 : bytes_of(n, t))
CAMBIUM_MESSAGE(MPI_Gatherv, (const void* b, int n, MPI_Datatype t, void* o, const int* m, const int* at, MPI_Datatype u, int root, MPI_Comm c), (b, n, t, o, m, at, u, root, c), b == MPI_IN_PLACE ? 0 : bytes_of(n, t))
CAMBIUM_MESSAGE(MPI_Scatterv, (const void* b, const int* n, const int* at, MPI_Datatype t, void* o, int m, MPI_Datatype u, int root, MPI_Comm c), (b, n, at, t, o, m, u, root, c), all_bytes(n, t, c))
CAMBIUM_MESSAGE(MPI_Allgather, (const void* b, int n, MPI_Datatype t, void* o, int m, MPI_Datatype u, MPI_Comm c), (b, n, t, o, m, u, c), b == MPI_IN_PLACE ? bytes_of(m, u) : bytes_of(n, t))
CAMBIUM_MESSAGE(MPI_Iallgather, (const void* b, int n, MPI_Datatype t, void* o, int m, MPI_Datatype u, MPI_Comm c, MPI_Request* r), (b, n, t, o, m, u, c, r), b == MPI_IN_PLACE ? bytes_of(m, u) : bytes_of(n, t))
CAMBIUM_MESSAGE(MPI_Allgatherv, (const void* b, int n, MPI_Datatype t, void* o, const int* m, const int* at, MPI_Datatype u, MPI_Comm c), (b, n, t, o, m, at, u, c), own_bytes(b, n, t, m, u, c))
CAMBIUM_MESSAGE(MPI_Iallgatherv, (const void* b, int n, MPI_Datatype t, void* o, const int* m, const int* at, MPI_Datatype u, MPI_Comm c, MPI_Request* r), (b, n, t, o, m, at, u, c, r), own_bytes(b, n, t, m, u, c))
CAMBIUM_MESSAGE(MPI_Alltoall, (const void* b, int n, MPI_Datatype t, void* o, int m, MPI_Datatype u, MPI_Comm c), (b, n, t, o, m, u, c), bytes_of(n, t) * size_of(c))
CAMBIUM_MESSAGE(MPI_Alltoallv, (const void* b, const int* n, const int* at, MPI_Datatype t, void* o, const int* m, const int* to, MPI_Datatype u, MPI_Comm c), (b, n, at, t, o, m, to, u, c), all_bytes(n, t, c))
CAMBIUM_MESSAGE(MPI_Ialltoallv, (const void* b, const int* n, const int* at, MPI_Datatype t, void* o, const int* m, const int* to, MPI_Datatype u, MPI_Comm c, MPI_Request* r), (b, n, at, t, o, m, to, u, c, r), all_bytes(n, t, c))
// clang-format on
