#include "plugins/superres/convection/halo.hpp"

#include <algorithm>
#include <exception>

#include "plugins/superres/convection/rows.hpp"

namespace cambium::superres {

Halo::Halo(const Comm& comm, const Slab& slab, int fields)
    : comm_(comm), rows_(slab.rows), below_(slab.bottom() ? MPI_PROC_NULL : slab.rank - 1),
      above_(slab.top() ? MPI_PROC_NULL : slab.rank + 1),
      part_(std::int64_t{fields} * RowLayout::of(slab.grid).columns()),
      sent_("halo sent", 2, fields, RowLayout::of(slab.grid).columns()),
      received_("halo received", 2, fields, RowLayout::of(slab.grid).columns()),
      out_(Kokkos::create_mirror_view(sent_)), in_(Kokkos::create_mirror_view(received_)) {
  if (slab.share_memory && slab.ranks > 1) pieces_ = SharedPieces::make(comm, 2 * part_);
}

Halo::~Halo() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  // After an exception the neighbour may be gone.
  if (!finalized && std::uncaught_exceptions() == 0) MPI_Waitall(4, requests_, MPI_STATUSES_IGNORE);
}

void Halo::start(const Fields& fields, int first, int count) {
  const bool below = below_ != MPI_PROC_NULL, above = above_ != MPI_PROC_NULL;
  if (!below && !above) return;
  const int m = rows_, columns = static_cast<int>(fields.extent(2)), n = count * columns;  // full packs
  bytes_sent_ += (std::int64_t{below} + std::int64_t{above}) * n * static_cast<std::int64_t>(sizeof(double));
  double* const piece = pieces_ ? pieces_->mine() : nullptr;
  const bool in_place = piece && device_is_host;  // kernels write to memory that the neighbours read
  const Fields sent = in_place ? Fields(piece, 2, sent_.extent(1), columns) : sent_;
  for_rows(
      "halo: pack", first, first + count, columns, KOKKOS_LAMBDA(int f, int i) {
        if (below) Lanes::load(&fields(f, 1, i)).store(&sent(0, f - first, i));
        if (above) Lanes::load(&fields(f, m, i)).store(&sent(1, f - first, i));
      });
  if (!in_place) Kokkos::deep_copy(out_, sent_);
  if (piece) {
    if (!in_place) std::copy_n(out_.data(), 2 * part_, piece);
    pieces_->start();
    return;
  }
  MPI_Irecv(&in_(0, 0, 0), n, MPI_DOUBLE, below_, 1, comm_.handle(), &requests_[0]);
  MPI_Irecv(&in_(1, 0, 0), n, MPI_DOUBLE, above_, 2, comm_.handle(), &requests_[1]);
  MPI_Isend(&out_(0, 0, 0), n, MPI_DOUBLE, below_, 2, comm_.handle(), &requests_[2]);
  MPI_Isend(&out_(1, 0, 0), n, MPI_DOUBLE, above_, 1, comm_.handle(), &requests_[3]);
}

void Halo::finish(const Fields& fields, int first, int count) {
  const bool below = below_ != MPI_PROC_NULL, above = above_ != MPI_PROC_NULL;
  if (!below && !above) return;
  const int m = rows_, columns = static_cast<int>(fields.extent(2));
  const double *from_below = received_.data(), *from_above = received_.data() + part_;
  if (pieces_) {
    const double* const lower = below ? pieces_->of(below_) + part_ : nullptr;  // its data for the rank above
    const double* const upper = above ? pieces_->of(above_) : nullptr;
    if constexpr (device_is_host) {
      from_below = lower;
      from_above = upper;
    } else {
      if (below) std::copy_n(lower, part_, &in_(0, 0, 0));
      if (above) std::copy_n(upper, part_, &in_(1, 0, 0));
    }
  } else {
    MPI_Waitall(4, requests_, MPI_STATUSES_IGNORE);
  }
  Kokkos::deep_copy(received_, in_);
  for_rows(
      "halo: unpack", first, first + count, columns, KOKKOS_LAMBDA(int f, int i) {
        const int place = (f - first) * columns + i;
        if (below) Lanes::load(from_below + place).store(&fields(f, 0, i));
        if (above) Lanes::load(from_above + place).store(&fields(f, m + 1, i));
      });
}

}  // namespace cambium::superres
