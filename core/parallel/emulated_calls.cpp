#include "core/parallel/emulated_calls.hpp"

#include <sched.h>

namespace cambium::emulated {

int receive(EmulatedNetwork& net, void* b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Status* s) {
  MPI_Request request = MPI_REQUEST_NULL;
  begin_receive(net, b, n, t, from, tag, c, &request);
  return wait_all(net, 1, &request, s);
}

int begin_receive(EmulatedNetwork& net, void* b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request* r) {
  const int result = PMPI_Irecv(b, n, t, from, tag, c, r);
  if (from != MPI_PROC_NULL) net.post_receive(*r, t, c);
  return result;
}

int exchange(EmulatedNetwork& net, const void* b, int n, MPI_Datatype t, int to, int tag, void* in, int m,
             MPI_Datatype u, int from, int other, MPI_Comm c, MPI_Status* s) {
  MPI_Request request = MPI_REQUEST_NULL;
  begin_receive(net, in, m, u, from, other, c, &request);
  PMPI_Send(b, n, t, to, tag, c);
  return wait_all(net, 1, &request, s);
}

int start(EmulatedNetwork& net, int n, MPI_Request* r) {
  const int result = PMPI_Startall(n, r);
  for (int k = 0; k < n; ++k) net.start(r[k]);
  return result;
}

int wait_all(EmulatedNetwork& net, int n, MPI_Request* r, MPI_Status* s) {
  net.wait(n, r);
  net.done(n, r);
  if (n == 1) return PMPI_Wait(r, s == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : s);
  return PMPI_Waitall(n, r, s);
}

int wait_any(EmulatedNetwork& net, int n, MPI_Request* r, int* k, MPI_Status* s) {
  for (;;) {
    bool any = false;
    for (int j = 0; j < n; ++j) {
      if (r[j] == MPI_REQUEST_NULL) continue;
      any = true;
      if (!net.complete(r[j])) continue;
      net.done(1, r + j);
      *k = j;
      return PMPI_Wait(r + j, s);
    }
    if (!any) return PMPI_Waitany(n, r, k, s);
    sched_yield();
  }
}

int test_all(EmulatedNetwork& net, int n, MPI_Request* r, int* flag, MPI_Status* s) {
  bool all = true;
  for (int k = 0; k < n; ++k) all = net.complete(r[k]) && all;  // no short circuit: every one must be tested
  *flag = all ? 1 : 0;
  if (!all) return MPI_SUCCESS;
  net.done(n, r);
  if (n == 1) return PMPI_Test(r, flag, s == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : s);
  return PMPI_Testall(n, r, flag, s);
}

int after(EmulatedNetwork& net, int result, double cost) {
  net.pass(cost);
  return result;
}

int begun(EmulatedNetwork& net, int result, MPI_Request* r, double cost) {
  if (*r != MPI_REQUEST_NULL) net.post_collective(*r, cost);
  return result;
}

}  // namespace cambium::emulated
