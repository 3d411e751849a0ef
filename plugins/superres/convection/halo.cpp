#include "plugins/superres/convection/halo.hpp"

#include "plugins/superres/convection/rows.hpp"

namespace cambium::superres {

Halo::Halo(const Comm& comm, const Slab& slab)
    : comm_(comm),
      rows_(slab.rows),
      below_(slab.bottom() ? MPI_PROC_NULL : slab.rank - 1),
      above_(slab.top() ? MPI_PROC_NULL : slab.rank + 1),
      sent_("halo sent", 2, 4, pitch_of(slab.grid.nx)),
      received_("halo received", 2, 4, pitch_of(slab.grid.nx)) {}

void Halo::exchange(const Fields& fields, int first, int count) {
  if (below_ == MPI_PROC_NULL && above_ == MPI_PROC_NULL) return;
  const int m = rows_, columns = static_cast<int>(fields.extent(2));
  const auto sent = sent_, received = received_;
  Kokkos::parallel_for("halo: pack", Range(0, count * columns), KOKKOS_LAMBDA(int j) {
    const int f = j / columns, i = j % columns;
    sent(0, f, i) = fields(first + f, 1, i);
    sent(1, f, i) = fields(first + f, m, i);
  });
  const auto out = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), sent_);
  const auto in = Kokkos::create_mirror_view(received_);
  const int n = count * columns;
  MPI_Request requests[4];
  MPI_Irecv(&in(0, 0, 0), n, MPI_DOUBLE, below_, 1, comm_.handle(), &requests[0]);
  MPI_Irecv(&in(1, 0, 0), n, MPI_DOUBLE, above_, 2, comm_.handle(), &requests[1]);
  MPI_Isend(&out(0, 0, 0), n, MPI_DOUBLE, below_, 2, comm_.handle(), &requests[2]);
  MPI_Isend(&out(1, 0, 0), n, MPI_DOUBLE, above_, 1, comm_.handle(), &requests[3]);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  Kokkos::deep_copy(received_, in);
  const bool below = below_ != MPI_PROC_NULL, above = above_ != MPI_PROC_NULL;
  Kokkos::parallel_for("halo: unpack", Range(0, count * columns), KOKKOS_LAMBDA(int j) {
    const int f = j / columns, i = j % columns;
    if (below) fields(first + f, 0, i) = received(0, f, i);
    if (above) fields(first + f, m + 1, i) = received(1, f, i);
  });
}

}  // namespace cambium::superres
