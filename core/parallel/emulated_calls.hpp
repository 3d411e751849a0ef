#pragma once
#include <mpi.h>

#include "core/parallel/emulated_network.hpp"

/// The calls of MPI that wait for others, as a network of that speed would answer them. Arguments and results are
/// those of the standard. `amount`: see EmulatedNetwork.
namespace cambium::emulated {

int receive(EmulatedNetwork& net, void* b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Status* s);
int begin_receive(EmulatedNetwork& net, void* b, int n, MPI_Datatype t, int from, int tag, MPI_Comm c, MPI_Request* r);
int exchange(EmulatedNetwork& net, const void* b, int n, MPI_Datatype t, int to, int tag, void* in, int m,
             MPI_Datatype u, int from, int other, MPI_Comm c, MPI_Status* s);
int start(EmulatedNetwork& net, int n, MPI_Request* r);
int wait_all(EmulatedNetwork& net, int n, MPI_Request* r, MPI_Status* s);
int wait_any(EmulatedNetwork& net, int n, MPI_Request* r, int* k, MPI_Status* s);
int test_all(EmulatedNetwork& net, int n, MPI_Request* r, int* flag, MPI_Status* s);

/// Follow-up of a collective that returned `result`: its time passes.
int after(EmulatedNetwork& net, int result, double cost);
/// The same for a non-blocking one.
int begun(EmulatedNetwork& net, int result, MPI_Request* r, double cost);

}  // namespace cambium::emulated
