#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/particles/atom_rows.hpp"
#include "core/particles/domain/domain.hpp"
#include "core/particles/spatial_order.hpp"

namespace cambium {
namespace {

/// Farther from the cell than this many cell lengths an atom counts as lost.
constexpr double far_away = 1e6;

KOKKOS_INLINE_FUNCTION bool is_near(const double s[3]) {
  return std::fabs(s[0]) < far_away && std::fabs(s[1]) < far_away && std::fabs(s[2]) < far_away;  // false for NaN
}

/// Brings rows into the cell; returns how many have no sound position.
int wrap(const View<double* [4]>& x, const View<int* [3]>& image, int count, const Box& box) {
  int bad = 0;
  Kokkos::parallel_reduce(
      "domain: wrap", Range(0, count),
      KOKKOS_LAMBDA(int i, int& unsound) {
        double r[3] = {x(i, 0), x(i, 1), x(i, 2)};
        // Adding a cell vector rounds, and may put an atom just outside of another face: look again.
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

/// Sends counts[k] rows to rank k and receives likewise, in rank order.
void exchange_rows(const Comm& comm, std::size_t row_bytes, const std::vector<int>& sent,
                   const std::vector<std::byte>& out, const std::vector<int>& received, std::vector<std::byte>& in) {
  MPI_Datatype row;
  MPI_Type_contiguous(static_cast<int>(row_bytes), MPI_BYTE, &row);
  MPI_Type_commit(&row);
  std::vector<MPI_Request> requests;
  std::size_t from = 0, to = 0;
  constexpr int tag = 13;
  for (int k = 0; k < comm.size(); ++k) {
    if (received[k]) MPI_Irecv(in.data() + to, received[k], row, k, tag, comm.handle(), &requests.emplace_back());
    to += row_bytes * received[k];
  }
  for (int k = 0; k < comm.size(); ++k) {
    if (sent[k]) MPI_Isend(out.data() + from, sent[k], row, k, tag, comm.handle(), &requests.emplace_back());
    from += row_bytes * sent[k];
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  MPI_Type_free(&row);
}

}  // namespace

void Domain::require_sound(const Particles& p, int bad) const {
  double sums[2] = {static_cast<double>(bad), static_cast<double>(p.nlocal)};
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
}

void Domain::migrate(Particles& p) {
  p.nghost = 0;
  nlocal_ = own_copies_ = 0;
  if (p.nglobal == 0) p.nglobal = comm_.sum(static_cast<std::int64_t>(p.nlocal));
  require_sound(p, wrap(p.x, p.image, p.nlocal, p.box));
  if (comm_.size() > 1) send_to_owners(p);
  p.reserve(p.nlocal);

  AtomRows rows(p, carried_);
  double low[3], high[3];
  for (int d = 0; d < 3; ++d) {
    low[d] = brick_[d] / static_cast<double>(grid_.count[d]);
    high[d] = (brick_[d] + 1) / static_cast<double>(grid_.count[d]);
  }
  const auto order = spatial_order(rows.x(), rows.tag(), p.nlocal, p.box, low, high);
  if (!order.empty()) {
    rows.permute(order);
    rows.store(p, carried_);
  }
  p.place_sentinel();
}

/// Puts received rows where others have left, closes the holes that remain from the end, or appends what is left over.
/// spatial_order() sorts afterwards, so the order made here does not matter.
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

void Domain::send_to_owners(Particles& p) {
  const int ranks = comm_.size();
  const AtomRows rows(p, carried_);
  std::vector<int> holes;
  std::vector<std::vector<int>> leaving(ranks);
  for (int i = 0; i < p.nlocal; ++i) {
    const double r[3] = {rows.x()(i, 0), rows.x()(i, 1), rows.x()(i, 2)};
    double s[3];
    p.box.to_fractional(r, s);
    const int owner = grid_.rank_of(grid_.brick_index(s[0], 0), grid_.brick_index(s[1], 1), grid_.brick_index(s[2], 2));
    if (owner == comm_.rank()) continue;
    leaving[owner].push_back(i);
    holes.push_back(i);
  }
  std::vector<int> sent(ranks), received(ranks);
  for (int k = 0; k < ranks; ++k) sent[k] = static_cast<int>(leaving[k].size());
  MPI_Alltoall(sent.data(), 1, MPI_INT, received.data(), 1, MPI_INT, comm_.handle());

  const std::size_t bytes = rows.row_bytes();
  std::vector<std::byte> out(bytes * holes.size());
  std::byte* end = out.data();
  for (const auto& list : leaving)
    for (int i : list) {
      rows.pack(i, end);
      end += bytes;
    }
  int arrivals = 0;
  for (int n : received) arrivals += n;
  std::vector<std::byte> in(bytes * arrivals);
  exchange_rows(comm_, bytes, sent, out, received, in);
  if (!holes.empty() || arrivals) fill_holes(p, holes, in, arrivals);
}

}  // namespace cambium
