#include "plugins/superres/convection/interfaces.hpp"

#include <algorithm>

#include "plugins/superres/convection/rows.hpp"

namespace cambium::superres {
namespace {

constexpr int tag = 7103;

/// Factors of a join for each matrix, which give from the p of two groups the rows between them, the p of both
/// together, and the contributions of these rows to this rank's L and R.
enum Factor { of_low, of_high, scale, to_first, to_last, to_below, to_above, factor_count };

/// Response of a group's ends to the rows beyond it: q of the first and the last row, r of both.
using Answer = std::array<double, 4>;
enum { q_first, q_last, r_first, r_last };

/// One row as a linear function of the rows beyond the joined group.
struct Row {
  double on_below, on_above;
};

/// Last row of the lower group and first row of the upper one, from last = p + q_last L + r_last first and first = p +
/// q_first last + r_first R, each with its own group's coefficients.
struct Between {
  double scale;
  Row last, first;

  Between(const Answer& low, const Answer& high) : scale(1.0 / (1.0 - low[r_last] * high[q_first])) {
    last = {scale * low[q_last], scale * low[r_last] * high[r_first]};
    first = {scale * high[q_first] * low[q_last], scale * high[r_first]};
  }
};

Answer joined(const Answer& low, const Answer& high, const Between& rows) {
  return {low[q_first] + low[r_first] * rows.first.on_below, high[q_last] * rows.last.on_below,
          low[r_first] * rows.first.on_above, high[r_last] + high[q_last] * rows.last.on_above};
}

/// Updates L or R of a rank, as a function of the rows beyond its group, for a join; returns the factor of the row that
/// is now inside.
double enter(Row& own, bool lower, const Between& rows) {
  const double through = lower ? own.on_above : own.on_below;
  own = lower ? Row{own.on_below + through * rows.first.on_below, through * rows.first.on_above}
              : Row{through * rows.last.on_below, own.on_above + through * rows.last.on_above};
  return through;
}

/// Pairs of rows that a join reads and writes.
struct JoinedRows {
  View<double*> group, other, below, above;
};

/// `begins`: L and R have no contributions yet.
void join_rows(const View<double***>& factors, int level, int block, bool lower, bool begins, const JoinedRows& rows) {
  const int columns = static_cast<int>(rows.below.extent(0)), matrices = static_cast<int>(factors.extent(2));
  const auto group = rows.group, other = rows.other, l = rows.below, u = rows.above;
  Kokkos::parallel_for(
      "interfaces", Range(0, columns / lanes), KOKKOS_LAMBDA(int pack) {
        const int j = pack * lanes, m = j / block % matrices;
        const auto factor = [&](int k) {
          return block == 1 ? Lanes::load(&factors(level, k, m)) : Lanes(factors(level, k, m));
        };
        const Lanes own_first = Lanes::load(&group(j)), own_last = Lanes::load(&group(columns + j));
        const Lanes other_first = Lanes::load(&other(j)), other_last = Lanes::load(&other(columns + j));
        const Lanes low = lower ? own_last : other_last, high = lower ? other_first : own_first;
        const Lanes last = fma(factor(of_high), high, low) * factor(scale),
                    first = fma(factor(of_low), low, high) * factor(scale), beyond = lower ? first : last;
        fma(factor(to_first), first, lower ? own_first : other_first).store(&group(j));
        fma(factor(to_last), last, lower ? other_last : own_last).store(&group(columns + j));
        const Lanes before_l = begins ? Lanes(0.0) : Lanes::load(&l(j)),
                    before_u = begins ? Lanes(0.0) : Lanes::load(&u(j));
        fma(factor(to_below), beyond, before_l).store(&l(j));
        fma(factor(to_above), beyond, before_u).store(&u(j));
      });
}

}  // namespace

Interfaces::Interfaces(const Comm& comm, int columns, int block, int matrices, bool share_memory, bool shared_out)
    : ends("ends", 2 * static_cast<std::size_t>(columns)), below("below", columns), above("above", columns),
      comm_(comm), columns_(columns), block_(block), matrices_(matrices),
      joins_(shared_out ? std::vector<Join>{} : joins_of(comm.rank(), comm.size())),
      group_("ends of a group", shared_out ? 0 : 2 * static_cast<std::size_t>(columns)),
      other_("ends of the other group", shared_out ? 0 : 2 * static_cast<std::size_t>(columns)),
      mine_(Kokkos::create_mirror_view(group_)), theirs_(Kokkos::create_mirror_view(other_)),
      factors_("interface factors", joins_.size(), factor_count, matrices) {
  if (shared_out) {
    if (comm.size() > 1) shares_ = std::make_unique<InterfaceShares>(comm, columns, block, matrices);
    return;
  }
  if (share_memory && comm.size() > 1) pieces_ = SharedPieces::make(comm, 2 * std::int64_t{columns});
}

void Interfaces::Response::add(const Sweep& sweep, double behind_first, double behind_last, double ahead_first,
                               double ahead_last) {
  // The row before a sweep that begins at a plate is never read.
  q_first.push_back(sweep.down ? ahead_last : sweep.behind ? behind_first : 0.0);
  q_last.push_back(sweep.behind ? behind_last : 0.0);
  r_first.push_back(sweep.behind ? ahead_first : 0.0);
  r_last.push_back(sweep.down ? 0.0 : ahead_last);
}

/// Exchanges the values of the other group of a join for those of this rank's group.
std::vector<std::array<double, 4>> Interfaces::swapped(const Join& join,
                                                       const std::vector<std::array<double, 4>>& group) const {
  std::vector<Answer> out(group.size());
  const int count = 4 * static_cast<int>(group.size());
  std::vector<MPI_Request> requests;
  for (const int rank : join.to)
    MPI_Isend(group.data(), count, MPI_DOUBLE, rank, tag, comm_.handle(), &requests.emplace_back());
  MPI_Recv(out.data(), count, MPI_DOUBLE, join.from, tag, comm_.handle(), MPI_STATUS_IGNORE);
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  return out;
}

void Interfaces::set(const Response& response) {
  std::vector<Answer> group;
  for (std::size_t m = 0; m < static_cast<std::size_t>(matrices_); ++m)
    group.push_back({response.q_first[m], response.q_last[m], response.r_first[m], response.r_last[m]});
  if (shares_) return shares_->set(group);
  std::vector<Row> own_below(group.size(), {1.0, 0.0}), own_above(group.size(), {0.0, 1.0});
  const auto factors = Kokkos::create_mirror_view(factors_);
  for (std::size_t level = 0; level < joins_.size(); ++level) {
    const Join& join = joins_[level];
    if (!join.there) continue;
    const auto other = swapped(join, group);
    for (std::size_t m = 0; m < group.size(); ++m) {
      const Answer &low = (join.lower ? group : other)[m], &high = (join.lower ? other : group)[m];
      const Between rows(low, high);
      factors(level, of_low, m) = high[q_first];
      factors(level, of_high, m) = low[r_last];
      factors(level, scale, m) = rows.scale;
      factors(level, to_first, m) = low[r_first];
      factors(level, to_last, m) = high[q_last];
      factors(level, to_below, m) = enter(own_below[m], join.lower, rows);
      factors(level, to_above, m) = enter(own_above[m], join.lower, rows);
      group[m] = joined(low, high, rows);
    }
  }
  Kokkos::deep_copy(factors_, factors);
}

Interfaces::Message Interfaces::message(const Join& join, bool sent) const {
  return {join.first(sent) ? 0 : columns_, join.last(sent) ? 2 * columns_ : columns_};
}

void Interfaces::send(std::size_t level) {
  const Join& join = joins_[level];
  if (!join.there && !pieces_) return;
  Kokkos::deep_copy(mine_, group_);
  const auto [from, to] = join.there ? message(join, true) : Message{0, 0};
  if (pieces_) {
    std::copy(mine_.data() + from, mine_.data() + to, pieces_->mine() + from);
    pieces_->start();
    return;
  }
  const auto [first, last] = message(join, false);
  MPI_Irecv(theirs_.data() + first, last - first, MPI_DOUBLE, join.from, tag, comm_.handle(),
            &requests_.emplace_back());
  for (const int rank : join.to)
    MPI_Isend(mine_.data() + from, to - from, MPI_DOUBLE, rank, tag, comm_.handle(), &requests_.emplace_back());
}

void Interfaces::receive(const Join& join) {
  if (pieces_) {
    const auto [first, last] = message(join, false);
    const double* const piece = pieces_->of(join.from);
    std::copy(piece + first, piece + last, theirs_.data() + first);
  } else {
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    requests_.clear();
  }
  Kokkos::deep_copy(other_, theirs_);
}

void Interfaces::start() {
  if (shares_) return shares_->start(ends);
  if (joins_.empty()) return;
  Kokkos::deep_copy(group_, ends);
  begins_ = true;
  send(0);
}

void Interfaces::join(std::size_t level) {
  const Join& join = joins_[level];
  if (join.there) {
    receive(join);
    join_rows(factors_, static_cast<int>(level), block_, join.lower, begins_, {group_, other_, below, above});
    begins_ = false;
  }
  if (level + 1 < joins_.size()) send(level + 1);
}

void Interfaces::finish() {
  if (shares_) return shares_->finish(below, above);
  if (!joins_.empty()) join(joins_.size() - 1);
}

void join_together(std::vector<Part>& parts) {
  for (std::size_t level = 0; level + 1 < parts.front().interfaces.levels(); ++level)
    for (Part& part : parts) part.interfaces.join(level);
}

std::vector<std::pair<int, int>> parts_of(int columns, int ranks) {
  constexpr int narrow = 8, wide = 8 * strip;
  const int unit = columns >= 4 * wide ? wide : narrow, middle = columns / 2 / unit * unit;
  if (ranks == 1 || middle == 0) return {{0, columns}};
  return {{0, middle}, {middle, columns}};
}

}  // namespace cambium::superres
