#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/particles/atom_rows.hpp"
#include "plugins/md/domain/domain.hpp"
#include "plugins/md/domain/spatial_order.hpp"

namespace cambium::md {
namespace {

/// Distance from the cell, in cell lengths, beyond which an atom counts as lost.
constexpr double far_away = 1e6;

KOKKOS_INLINE_FUNCTION bool is_near(const double s[3]) {
  return std::fabs(s[0]) < far_away && std::fabs(s[1]) < far_away && std::fabs(s[2]) < far_away;  // false for NaN
}

/// Wraps rows into the cell; returns the number of invalid positions.
int wrap(const View<double* [4]>& x, const View<int* [3]>& image, int count, const Box& box) {
  int bad = 0;
  Kokkos::parallel_reduce(
      "domain: wrap", Range(0, count),
      KOKKOS_LAMBDA(int i, int& unsound) {
        double r[3] = {x(i, 0), x(i, 1), x(i, 2)};
        // Adding a cell vector rounds, and may move an atom just outside another face: check again.
        for (int pass = 0; pass < 4; ++pass) {
          double s[3];
          box.to_fractional(r, s);
          if (!is_near(s)) {
            ++unsound;
            return;
          }
          int n[3];
          for (int d = 0; d < 3; ++d) n[d] = static_cast<int>(std::floor(s[d]));
          if (n[0] == 0 && n[1] == 0 && n[2] == 0) break;
          for (int k = 0; k < 3; ++k) {
            r[k] -= n[0] * box.h[0][k] + n[1] * box.h[1][k] + n[2] * box.h[2][k];
            x(i, k) = r[k];
            image(i, k) += n[k];
          }
        }
      },
      bad);
  return bad;
}

std::string describe_unsound(const Particles& p, int rank) {
  const auto x = Kokkos::create_mirror_view(p.x);
  const auto tag = Kokkos::create_mirror_view(p.tag);
  Kokkos::deep_copy(x, p.x);
  Kokkos::deep_copy(tag, p.tag);
  for (int i = 0; i < p.nlocal; ++i) {
    const double r[3] = {x(i, 0), x(i, 1), x(i, 2)};
    double s[3];
    p.box.to_fractional(r, s);
    if (!is_near(s))
      return fmt::format(
          "atom {} on rank {} is lost: its position is ({:g}, {:g}, {:g}) Å; use a shorter time step, or look for "
          "atoms that start too close together",
          tag(i), rank, r[0], r[1], r[2]);
  }
  return {};
}

/// Rows sent to another rank, and those received from it.
struct Parcel {
  int rank;
  int sent = 0, received = 0;
};

constexpr int migrated_counts_tag = 13, migrated_rows_tag = 14;

/// Exchanges the numbers of rows with the ranks of the parcels; `anywhere`: these are all ranks, in order.
void tell_counts(const Comm& comm, std::vector<Parcel>& parcels, bool anywhere) {
  if (anywhere) {
    std::vector<int> sent, received(parcels.size());
    for (const auto& parcel : parcels) sent.push_back(parcel.sent);
    MPI_Alltoall(sent.data(), 1, MPI_INT, received.data(), 1, MPI_INT, comm.handle());
    for (std::size_t k = 0; k < parcels.size(); ++k) parcels[k].received = received[k];
    return;
  }
  std::vector<MPI_Request> requests;
  for (auto& p : parcels) {
    MPI_Irecv(&p.received, 1, MPI_INT, p.rank, migrated_counts_tag, comm.handle(), &requests.emplace_back());
    MPI_Isend(&p.sent, 1, MPI_INT, p.rank, migrated_counts_tag, comm.handle(), &requests.emplace_back());
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

/// Rows are in the order of the parcels on both sides.
void exchange_rows(const Comm& comm, std::size_t row_bytes, const std::vector<Parcel>& parcels,
                   const std::vector<std::byte>& out, std::vector<std::byte>& in) {
  MPI_Datatype row;
  MPI_Type_contiguous(static_cast<int>(row_bytes), MPI_BYTE, &row);
  MPI_Type_commit(&row);
  std::vector<MPI_Request> requests;
  std::size_t from = 0, to = 0;
  for (const auto& p : parcels) {
    if (p.received)
      MPI_Irecv(in.data() + to, p.received, row, p.rank, migrated_rows_tag, comm.handle(), &requests.emplace_back());
    to += row_bytes * static_cast<std::size_t>(p.received);
  }
  for (const auto& p : parcels) {
    if (p.sent)
      MPI_Isend(out.data() + from, p.sent, row, p.rank, migrated_rows_tag, comm.handle(), &requests.emplace_back());
    from += row_bytes * static_cast<std::size_t>(p.sent);
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  MPI_Type_free(&row);
}

}  // namespace

/// Throws on an error on any rank; true if an atom of any rank has left for a rank that is not a neighbour.
bool Domain::require_sound(const Particles& p, int bad, int strays) const {
  double sums[3] = {static_cast<double>(bad), static_cast<double>(p.nlocal), static_cast<double>(strays)};
  if (comm_.size() > 1) comm_.sum(sums);
  if (sums[0] > 0.0) {
    const int speaker = static_cast<int>(comm_.min(bad ? comm_.rank() : comm_.size()));
    std::string text = bad ? describe_unsound(p, comm_.rank()) : std::string();
    comm_.broadcast(text, speaker);
    throw NumericalError(text);
  }
  if (sums[1] != static_cast<double>(p.nglobal))
    throw NumericalError(fmt::format("atoms are lost: all ranks together hold {:.0f}, not {}; rank {} holds {}",
                                     sums[1], p.nglobal, comm_.rank(), p.nlocal));
  return sums[2] > 0.0;
}

void Domain::migrate(Particles& p) {
  p.nghost = 0;
  nlocal_ = own_copies_ = 0;
  if (p.nglobal == 0) p.nglobal = comm_.sum(static_cast<std::int64_t>(p.nlocal));
  const int bad = wrap(p.x, p.image, p.nlocal, p.box);
  const Leaving leaving = comm_.size() > 1 && bad == 0 ? find_leaving(p) : Leaving();
  const bool strays = require_sound(p, bad, leaving.strays);
  if (comm_.size() > 1) send_to_owners(p, leaving, strays || !peers_known_);
  p.reserve(p.nlocal);

  const FractionalBox box = division_.part_of(comm_.rank());
  if constexpr (!device_is_host) {
    order_rows_on_device(p, carried_, box.low, box.high, order_work_);
    return p.place_sentinel();
  }
  AtomRows rows(p, carried_);
  const auto order = spatial_order(rows.x(), rows.tag(), p.nlocal, p.box, box.low, box.high);
  if (!order.empty()) {
    rows.permute(order);
    rows.store(p, carried_);
  }
  p.place_sentinel();
}

/// Stores received rows in the rows of atoms that have left, fills remaining holes from the end, or appends the
/// remaining rows. spatial_order() sorts afterwards, so the order here does not matter.
void Domain::fill_holes(Particles& p, const std::vector<int>& holes, const std::vector<std::byte>& in, int arrivals) {
  const int filled = std::min<int>(arrivals, static_cast<int>(holes.size()));
  const int rows_after = p.nlocal - static_cast<int>(holes.size()) + arrivals;
  {
    AtomRows rows(p, carried_);
    for (int k = 0; k < filled; ++k) rows.unpack(holes[k], in.data() + k * rows.row_bytes());
    std::vector<std::byte> row(rows.row_bytes());
    int last = p.nlocal - 1, last_hole = static_cast<int>(holes.size()) - 1;
    for (int k = filled; k <= last_hole && holes[k] < rows_after; ++k) {
      while (last_hole > k && holes[last_hole] == last) --last, --last_hole;
      rows.pack(last--, row.data());
      rows.unpack(holes[k], row.data());
    }
    rows.store(p, carried_);
  }
  const int first = p.nlocal;
  p.nlocal = rows_after;
  if (arrivals == filled) return;
  p.reserve(p.nlocal);
  AtomRows grown(p, carried_);
  for (int k = filled; k < arrivals; ++k) grown.unpack(first + k - filled, in.data() + k * grown.row_bytes());
  grown.store(p, carried_);
}

Domain::Leaving Domain::find_leaving(const Particles& p) const {
  const auto x = Kokkos::create_mirror_view(p.x);
  Kokkos::deep_copy(x, p.x);
  const auto& peers = peers_.peers();  // by rank
  const auto is_neighbour = [&](int rank) {
    const auto found = std::lower_bound(peers.begin(), peers.end(), rank,
                                        [](const PeerExchange::Peer& peer, int r) { return peer.rank < r; });
    return found != peers.end() && found->rank == rank;
  };
  Leaving out;
  for (int i = 0; i < p.nlocal; ++i) {
    const double r[3] = {x(i, 0), x(i, 1), x(i, 2)};
    double s[3];
    p.box.to_fractional(r, s);
    const int owner = division_.owner_of(s);
    if (owner == comm_.rank()) continue;
    out.rows.push_back(i);
    out.owners.push_back(owner);
    out.strays += !is_neighbour(owner);
  }
  return out;
}

void Domain::send_to_owners(Particles& p, const Leaving& leaving, bool anywhere) {
  std::vector<Parcel> parcels;
  if (anywhere)
    for (int k = 0; k < comm_.size(); ++k) parcels.push_back({k});
  else
    for (const auto& peer : peers_.peers()) parcels.push_back({peer.rank});  // also by rank
  std::vector<std::vector<int>> to(parcels.size());
  for (std::size_t i = 0; i < leaving.rows.size(); ++i) {
    const auto parcel = std::lower_bound(parcels.begin(), parcels.end(), leaving.owners[i],
                                         [](const Parcel& a, int rank) { return a.rank < rank; });
    ++parcel->sent;
    to[parcel - parcels.begin()].push_back(leaving.rows[i]);
  }
  tell_counts(comm_, parcels, anywhere);

  const AtomRows rows(p, carried_);
  const std::size_t bytes = rows.row_bytes();
  std::vector<std::byte> out(bytes * leaving.rows.size());
  std::byte* end = out.data();
  for (const auto& list : to)
    for (int i : list) {
      rows.pack(i, end);
      end += bytes;
    }
  int arrivals = 0;
  for (const auto& parcel : parcels) arrivals += parcel.received;
  std::vector<std::byte> in(bytes * static_cast<std::size_t>(arrivals));
  exchange_rows(comm_, bytes, parcels, out, in);
  if (!leaving.rows.empty() || arrivals) fill_holes(p, leaving.rows, in, arrivals);
}

}  // namespace cambium::md
