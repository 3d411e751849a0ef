// The calls of MPI that send or wait, as regions of a profile. They are defined here under their own names and call the
// profiling interface of the standard (MPI 3.1, chapter 14), so that messages of libraries are recorded, too. Bytes are
// those sent by this rank. WaitClock and MessageCount count the same calls. Another PMPI tool, loaded before this
// library, takes precedence. With CAMBIUM_NETWORK they take the time of another network (core/parallel).
#include <mpi.h>

#include <unordered_map>

#include "core/base/message_count.hpp"
#include "core/base/recorder.hpp"
#include "core/base/wait_clock.hpp"
#include "core/parallel/emulated_calls.hpp"

namespace {

namespace emulated = cambium::emulated;
using cambium::Amount;
using cambium::counted_messages;
using cambium::emulated_network;
using cambium::EmulatedNetwork;
using cambium::KernelRegion;
using cambium::MessageTotals;
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

/// For the other ranks' parts, and of the parts for other ranks.
double others_bytes(const int* counts, MPI_Datatype type, MPI_Comm comm) {
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  return counts ? all_bytes(counts, type, comm) - bytes_of(counts[rank], type) : 0.0;
}

bool is_root(int root, MPI_Comm comm) {
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  return rank == root;
}

/// Bytes of persistent sends.
std::unordered_map<MPI_Request, double>& persistent_sends() {
  static std::unordered_map<MPI_Request, double> all;
  return all;
}

/// For persistent requests: the totals added by each start.
std::unordered_map<MPI_Request, MessageTotals>& persistent_totals() {
  static std::unordered_map<MPI_Request, MessageTotals> all;
  return all;
}

bool is_self(int rank, MPI_Comm comm) {
  int self = 0;
  PMPI_Comm_rank(comm, &self);
  return rank == self;
}

// Kind of a call (MessageTotals). Messages of a rank to itself, and to MPI_PROC_NULL, are not counted.
MessageTotals sends(double bytes, int to, MPI_Comm comm) {
  return to == MPI_PROC_NULL || is_self(to, comm) ? MessageTotals{} : MessageTotals{1, 0, bytes, 0.0};
}
MessageTotals takes(double bytes, int from, MPI_Comm comm) {
  return from == MPI_PROC_NULL || is_self(from, comm) ? MessageTotals{} : MessageTotals{0, 0, 0.0, bytes};
}
MessageTotals both(const MessageTotals& a, const MessageTotals& b) {
  return {a.messages + b.messages, a.collectives + b.collectives, a.sent + b.sent, a.received + b.received};
}
MessageTotals shares(double sent, double received, MPI_Comm comm) {
  return size_of(comm) == 1 ? MessageTotals{} : MessageTotals{0, 1, sent, received};
}
MessageTotals begins(int count, const MPI_Request* requests) {
  MessageTotals sum;
  for (int k = 0; k < count; ++k)
    if (const auto found = persistent_totals().find(requests[k]); found != persistent_totals().end())
      sum = both(sum, found->second);
  return sum;
}
void add_to(MessageTotals& all, const MessageTotals& more) { all = both(all, more); }

double started_bytes(int count, const MPI_Request* requests) {
  double sum = 0.0;
  for (int k = 0; k < count; ++k)
    if (const auto found = persistent_sends().find(requests[k]); found != persistent_sends().end())
      sum += found->second;
  return sum;
}

}  // namespace

#define CAMBIUM_EMULATED(name, parameters, arguments, sent, counts, slow)               \
  extern "C" int name parameters {                                                      \
    const cambium::Waiting waiting;                                                     \
    if (MessageTotals* const all = counted_messages()) add_to(*all, (counts));          \
    EmulatedNetwork* const net = emulated_network();                                    \
    if (!recorder()) return net ? (slow) : P##name arguments;                           \
    const KernelRegion region(#name, WorkKind::communication, Amount{.bytes = (sent)}); \
    return net ? (slow) : P##name arguments;                                            \
  }

#define CAMBIUM_MESSAGE(name, parameters, arguments, sent, counts)                      \
  extern "C" int name parameters {                                                      \
    const cambium::Waiting waiting;                                                     \
    if (MessageTotals* const all = counted_messages()) add_to(*all, (counts));          \
    if (!recorder()) return P##name arguments;                                          \
    const KernelRegion region(#name, WorkKind::communication, Amount{.bytes = (sent)}); \
    return P##name arguments;                                                           \
  }

// clang-format off
CAMBIUM_MESSAGE(MPI_Send, (const void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c), (b, n, t, to, tag, c), bytes_of(n, t), sends(bytes_of(n, t), to, c))
CAMBIUM_MESSAGE(MPI_Isend, (const void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request* r), (b, n, t, to, tag, c, r), bytes_of(n, t), sends(bytes_of(n, t), to, c))
CAMBIUM_EMULATED(MPI_Recv, (void* b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Status* s), (b, n, t, from, tag, c, s), 0, takes(bytes_of(n, t), from, c), emulated::receive(*net, b, n, t, from, tag, c, s))
CAMBIUM_EMULATED(MPI_Irecv, (void* b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request* r), (b, n, t, from, tag, c, r), 0, takes(bytes_of(n, t), from, c), emulated::begin_receive(*net, b, n, t, from, tag, c, r))
CAMBIUM_EMULATED(MPI_Sendrecv, (const void* b, int n, MPI_Datatype t, int to, int tag, void* in, int m, MPI_Datatype u, int from, int other, MPI_Comm c, MPI_Status* s), (b, n, t, to, tag, in, m, u, from, other, c, s), bytes_of(n, t), both(sends(bytes_of(n, t), to, c), takes(bytes_of(m, u), from, c)), emulated::exchange(*net, b, n, t, to, tag, in, m, u, from, other, c, s))
CAMBIUM_EMULATED(MPI_Start, (MPI_Request* r), (r), started_bytes(1, r), begins(1, r), emulated::start(*net, 1, r))
CAMBIUM_EMULATED(MPI_Startall, (int n, MPI_Request* r), (n, r), started_bytes(n, r), begins(n, r), emulated::start(*net, n, r))
CAMBIUM_EMULATED(MPI_Wait, (MPI_Request* r, MPI_Status* s), (r, s), 0, MessageTotals{}, emulated::wait_all(*net, 1, r, s))
CAMBIUM_EMULATED(MPI_Waitall, (int n, MPI_Request* r, MPI_Status* s), (n, r, s), 0, MessageTotals{}, emulated::wait_all(*net, n, r, s))
CAMBIUM_EMULATED(MPI_Waitany, (int n, MPI_Request* r, int* k, MPI_Status* s), (n, r, k, s), 0, MessageTotals{}, emulated::wait_any(*net, n, r, k, s))
CAMBIUM_EMULATED(MPI_Test, (MPI_Request* r, int* f, MPI_Status* s), (r, f, s), 0, MessageTotals{}, emulated::test_all(*net, 1, r, f, s))
CAMBIUM_EMULATED(MPI_Testall, (int n, MPI_Request* r, int* f, MPI_Status* s), (n, r, f, s), 0, MessageTotals{}, emulated::test_all(*net, n, r, f, s))
CAMBIUM_MESSAGE(MPI_Probe, (int from, int tag, MPI_Comm c, MPI_Status* s), (from, tag, c, s), 0, MessageTotals{})
CAMBIUM_MESSAGE(MPI_Iprobe, (int from, int tag, MPI_Comm c, int* f, MPI_Status* s), (from, tag, c, f, s), 0, MessageTotals{})
CAMBIUM_EMULATED(MPI_Barrier, (MPI_Comm c), (c), 0, shares(0.0, 0.0, c), emulated::after(*net, PMPI_Barrier(c), net->barrier(c)))
CAMBIUM_EMULATED(MPI_Ibarrier, (MPI_Comm c, MPI_Request* r), (c, r), 0, shares(0.0, 0.0, c), emulated::begun(*net, PMPI_Ibarrier(c, r), r, net->barrier(c)))
CAMBIUM_EMULATED(MPI_Bcast, (void* b, int n, MPI_Datatype t, int root, MPI_Comm c), (b, n, t, root, c), bytes_of(n, t), shares(is_root(root, c) ? bytes_of(n, t) : 0.0, is_root(root, c) ? 0.0 : bytes_of(n, t), c), emulated::after(*net, PMPI_Bcast(b, n, t, root, c), net->broadcast(bytes_of(n, t), c)))
CAMBIUM_EMULATED(MPI_Ibcast, (void* b, int n, MPI_Datatype t, int root, MPI_Comm c, MPI_Request* r), (b, n, t, root, c, r), bytes_of(n, t), shares(is_root(root, c) ? bytes_of(n, t) : 0.0, is_root(root, c) ? 0.0 : bytes_of(n, t), c), emulated::begun(*net, PMPI_Ibcast(b, n, t, root, c, r), r, net->broadcast(bytes_of(n, t), c)))
CAMBIUM_EMULATED(MPI_Reduce, (const void* b, void* o, int n, MPI_Datatype t, MPI_Op op, int root, MPI_Comm c), (b, o, n, t, op, root, c), bytes_of(n, t), shares(bytes_of(n, t), is_root(root, c) ? bytes_of(n, t) : 0.0, c), emulated::after(*net, PMPI_Reduce(b, o, n, t, op, root, c), net->broadcast(bytes_of(n, t), c)))
CAMBIUM_EMULATED(MPI_Allreduce, (const void* b, void* o, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c), (b, o, n, t, op, c), bytes_of(n, t), shares(bytes_of(n, t), bytes_of(n, t), c), emulated::after(*net, PMPI_Allreduce(b, o, n, t, op, c), net->all_reduce(bytes_of(n, t), c)))
CAMBIUM_EMULATED(MPI_Iallreduce, (const void* b, void* o, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c, MPI_Request* r), (b, o, n, t, op, c, r), bytes_of(n, t), shares(bytes_of(n, t), bytes_of(n, t), c), emulated::begun(*net, PMPI_Iallreduce(b, o, n, t, op, c, r), r, net->all_reduce(bytes_of(n, t), c)))
CAMBIUM_EMULATED(MPI_Exscan, (const void* b, void* o, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c), (b, o, n, t, op, c), bytes_of(n, t), shares(bytes_of(n, t), bytes_of(n, t), c), emulated::after(*net, PMPI_Exscan(b, o, n, t, op, c), net->scan(bytes_of(n, t), c)))
CAMBIUM_EMULATED(MPI_Gather, (const void* b, int n, MPI_Datatype t, void* o, int m, MPI_Datatype u, int root, MPI_Comm c), (b, n, t, o, m, u, root, c), b == MPI_IN_PLACE ? 0 : bytes_of(n, t), shares(b == MPI_IN_PLACE ? 0.0 : bytes_of(n, t), is_root(root, c) ? bytes_of(m, u) * (size_of(c) - 1) : 0.0, c), emulated::after(*net, PMPI_Gather(b, n, t, o, m, u, root, c), net->gather(is_root(root, c) ? bytes_of(m, u) * (size_of(c) - 1) : 0.0, c)))
CAMBIUM_EMULATED(MPI_Gatherv, (const void* b, int n, MPI_Datatype t, void* o, const int* m, const int* at, MPI_Datatype u, int root, MPI_Comm c), (b, n, t, o, m, at, u, root, c), b == MPI_IN_PLACE ? 0 : bytes_of(n, t), shares(b == MPI_IN_PLACE ? 0.0 : bytes_of(n, t), is_root(root, c) ? others_bytes(m, u, c) : 0.0, c), emulated::after(*net, PMPI_Gatherv(b, n, t, o, m, at, u, root, c), net->gather(is_root(root, c) ? others_bytes(m, u, c) : 0.0, c)))
CAMBIUM_EMULATED(MPI_Scatterv, (const void* b, const int* n, const int* at, MPI_Datatype t, void* o, int m, MPI_Datatype u, int root, MPI_Comm c), (b, n, at, t, o, m, u, root, c), all_bytes(n, t, c), shares(is_root(root, c) ? others_bytes(n, t, c) : 0.0, is_root(root, c) ? 0.0 : bytes_of(m, u), c), emulated::after(*net, PMPI_Scatterv(b, n, at, t, o, m, u, root, c), net->gather(is_root(root, c) ? others_bytes(n, t, c) : 0.0, c)))
CAMBIUM_EMULATED(MPI_Allgather, (const void* b, int n, MPI_Datatype t, void* o, int m, MPI_Datatype u, MPI_Comm c), (b, n, t, o, m, u, c), b == MPI_IN_PLACE ? bytes_of(m, u) : bytes_of(n, t), shares(b == MPI_IN_PLACE ? bytes_of(m, u) : bytes_of(n, t), bytes_of(m, u) * (size_of(c) - 1), c), emulated::after(*net, PMPI_Allgather(b, n, t, o, m, u, c), net->gather(bytes_of(m, u) * (size_of(c) - 1), c)))
CAMBIUM_EMULATED(MPI_Iallgather, (const void* b, int n, MPI_Datatype t, void* o, int m, MPI_Datatype u, MPI_Comm c, MPI_Request* r), (b, n, t, o, m, u, c, r), b == MPI_IN_PLACE ? bytes_of(m, u) : bytes_of(n, t), shares(b == MPI_IN_PLACE ? bytes_of(m, u) : bytes_of(n, t), bytes_of(m, u) * (size_of(c) - 1), c), emulated::begun(*net, PMPI_Iallgather(b, n, t, o, m, u, c, r), r, net->gather(bytes_of(m, u) * (size_of(c) - 1), c)))
CAMBIUM_EMULATED(MPI_Allgatherv, (const void* b, int n, MPI_Datatype t, void* o, const int* m, const int* at, MPI_Datatype u, MPI_Comm c), (b, n, t, o, m, at, u, c), own_bytes(b, n, t, m, u, c), shares(own_bytes(b, n, t, m, u, c), others_bytes(m, u, c), c), emulated::after(*net, PMPI_Allgatherv(b, n, t, o, m, at, u, c), net->gather(others_bytes(m, u, c), c)))
CAMBIUM_EMULATED(MPI_Iallgatherv, (const void* b, int n, MPI_Datatype t, void* o, const int* m, const int* at, MPI_Datatype u, MPI_Comm c, MPI_Request* r), (b, n, t, o, m, at, u, c, r), own_bytes(b, n, t, m, u, c), shares(own_bytes(b, n, t, m, u, c), others_bytes(m, u, c), c), emulated::begun(*net, PMPI_Iallgatherv(b, n, t, o, m, at, u, c, r), r, net->gather(others_bytes(m, u, c), c)))
CAMBIUM_EMULATED(MPI_Alltoall, (const void* b, int n, MPI_Datatype t, void* o, int m, MPI_Datatype u, MPI_Comm c), (b, n, t, o, m, u, c), bytes_of(n, t) * size_of(c), shares(bytes_of(n, t) * (size_of(c) - 1), bytes_of(m, u) * (size_of(c) - 1), c), emulated::after(*net, PMPI_Alltoall(b, n, t, o, m, u, c), net->all_to_all(bytes_of(n, t) * (size_of(c) - 1), c)))
CAMBIUM_EMULATED(MPI_Alltoallv, (const void* b, const int* n, const int* at, MPI_Datatype t, void* o, const int* m, const int* to, MPI_Datatype u, MPI_Comm c), (b, n, at, t, o, m, to, u, c), all_bytes(n, t, c), shares(others_bytes(n, t, c), others_bytes(m, u, c), c), emulated::after(*net, PMPI_Alltoallv(b, n, at, t, o, m, to, u, c), net->all_to_all(others_bytes(n, t, c), c)))
CAMBIUM_EMULATED(MPI_Ialltoallv, (const void* b, const int* n, const int* at, MPI_Datatype t, void* o, const int* m, const int* to, MPI_Datatype u, MPI_Comm c, MPI_Request* r), (b, n, at, t, o, m, to, u, c, r), all_bytes(n, t, c), shares(others_bytes(n, t, c), others_bytes(m, u, c), c), emulated::begun(*net, PMPI_Ialltoallv(b, n, at, t, o, m, to, u, c, r), r, net->all_to_all(others_bytes(n, t, c), c)))
// clang-format on

// Persistent sends and receives, started by MPI_Start: only this call has their sizes.
extern "C" int MPI_Send_init(const void* b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request* r) {
  const int result = PMPI_Send_init(b, n, t, to, tag, c, r);
  persistent_sends()[*r] = bytes_of(n, t);
  persistent_totals()[*r] = sends(bytes_of(n, t), to, c);
  return result;
}

extern "C" int MPI_Recv_init(void* b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request* r) {
  const int result = PMPI_Recv_init(b, n, t, from, tag, c, r);
  persistent_totals()[*r] = takes(bytes_of(n, t), from, c);
  if (EmulatedNetwork* const net = emulated_network(); net && from != MPI_PROC_NULL) net->remember(*r, t, c);
  return result;
}

extern "C" int MPI_Request_free(MPI_Request* r) {
  persistent_sends().erase(*r);
  persistent_totals().erase(*r);
  if (EmulatedNetwork* const net = emulated_network()) net->forget(*r);
  return PMPI_Request_free(r);
}
