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
  const int m = rows_, columns = static_cast<int>(fields.extent(2));  // whole packs
  const auto sent = sent_, received = received_;
  for_rows("halo: pack", first, first + count, columns, KOKKOS_LAMBDA(int f, int i) {
    Lanes::load(&fields(f, 1, i)).store(&sent(0, f - first, i));
    Lanes::load(&fields(f, m, i)).store(&sent(1, f - first, i));
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
  for_rows("halo: unpack", first, first + count, columns, KOKKOS_LAMBDA(int f, int i) {
    if (below) Lanes::load(&received(0, f - first, i)).store(&fields(f, 0, i));
    if (above) Lanes::load(&received(1, f - first, i)).store(&fields(f, m + 1, i));
  });
}

}  // namespace cambium::superres
