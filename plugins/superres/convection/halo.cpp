#include "plugins/superres/convection/halo.hpp"

namespace cambium::superres {

Halo::Halo(const Comm& comm, const Slab& slab)
    : comm_(comm),
      rows_(slab.rows),
      below_(slab.bottom() ? MPI_PROC_NULL : slab.rank - 1),
      above_(slab.top() ? MPI_PROC_NULL : slab.rank + 1) {}

/// One row of several fields, on the host for MPI.
static Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace> packed(const Fields& fields, int first, int count, int row) {
  Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace> buffer("halo", count, fields.extent(2));
  for (int k = 0; k < count; ++k)
    Kokkos::deep_copy(Kokkos::subview(buffer, k, Kokkos::ALL), Kokkos::subview(fields, first + k, row, Kokkos::ALL));
  return buffer;
}

void Halo::exchange(const Fields& fields, int first, int count) {
  if (below_ == MPI_PROC_NULL && above_ == MPI_PROC_NULL) return;
  const auto down = packed(fields, first, count, 1), up = packed(fields, first, count, rows_);
  auto from_above = packed(fields, first, count, rows_ + 1), from_below = packed(fields, first, count, 0);
  const int n = static_cast<int>(down.size());
  MPI_Request requests[4];
  MPI_Irecv(from_above.data(), n, MPI_DOUBLE, above_, 1, comm_.handle(), &requests[0]);
  MPI_Irecv(from_below.data(), n, MPI_DOUBLE, below_, 2, comm_.handle(), &requests[1]);
  MPI_Isend(down.data(), n, MPI_DOUBLE, below_, 1, comm_.handle(), &requests[2]);
  MPI_Isend(up.data(), n, MPI_DOUBLE, above_, 2, comm_.handle(), &requests[3]);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  for (int k = 0; k < count; ++k) {
    if (above_ != MPI_PROC_NULL)
      Kokkos::deep_copy(Kokkos::subview(fields, first + k, rows_ + 1, Kokkos::ALL), Kokkos::subview(from_above, k, Kokkos::ALL));
    if (below_ != MPI_PROC_NULL)
      Kokkos::deep_copy(Kokkos::subview(fields, first + k, 0, Kokkos::ALL), Kokkos::subview(from_below, k, Kokkos::ALL));
  }
}

}  // namespace cambium::superres
