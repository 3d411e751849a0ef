#include "plugins/superres/convection/interface_shares.hpp"

#include <algorithm>

#include "plugins/superres/convection/rows.hpp"

namespace cambium::superres {
namespace {

constexpr int share_tag = 7104, answer_tag = 7105;
constexpr int columns_together = 8;  ///< columns that are not separated, full packs of any width

/// Factors of rank r after elimination of the ranks below it: with last(r-1) = a(r-1) + above(r-1) first(r),
///   first(r) = scale p_first + to_first a(r-1) + ahead first(r+1),
///   last(r) = a(r) + above(r) first(r+1), a(r) = p_last + to_last a(r-1) + through (first(r) without its last term).
struct Share {
  enum { scale, to_first, ahead, to_last, through, above, count };
};

}  // namespace

InterfaceShares::InterfaceShares(const Comm& comm, int columns, int block, int matrices)
    : comm_(comm), columns_(columns), block_(block), matrices_(matrices),
      share_(begin(comm.rank() + 1) - begin(comm.rank())), packed_(2 * static_cast<std::size_t>(columns)),
      rows_("ends of a share", comm.size(), 2, share_), host_(Kokkos::create_mirror_view(rows_)),
      factors_("factors of a share", comm.size(), Share::count, share_) {}

int InterfaceShares::begin(int rank) const {
  return static_cast<int>(std::int64_t{columns_ / columns_together} * rank / comm_.size()) * columns_together;
}

/// Indexed by (rank, column of the own part, entry).
std::vector<double> InterfaceShares::answers_of_all(const std::vector<Answer>& own) const {
  const int ranks = comm_.size(), me = comm_.rank();
  const std::size_t entries = own[0].size(), width = entries * static_cast<std::size_t>(share_);
  std::vector<double> all(width * static_cast<std::size_t>(ranks));
  if (block_ > 1) {  // few matrices: gathered on every rank
    std::vector<Answer> gathered(own.size() * static_cast<std::size_t>(ranks));
    const int count = static_cast<int>(entries * own.size());
    MPI_Allgather(own.data(), count, MPI_DOUBLE, gathered.data(), count, MPI_DOUBLE, comm_.handle());
    auto to = all.begin();
    for (int r = 0; r < ranks; ++r)
      for (int j = begin(me); j < begin(me + 1); ++j)
        to = std::ranges::copy(gathered[own.size() * r + static_cast<std::size_t>(j / block_ % matrices_)], to).out;
    return all;
  }
  std::vector<double> out;
  for (int j = 0; j < columns_; ++j) {
    const Answer& answer = own[static_cast<std::size_t>(j / block_ % matrices_)];
    out.insert(out.end(), answer.begin(), answer.end());
  }
  std::vector<int> sent, from, taken, into;
  for (int r = 0; r < ranks; ++r) {
    from.push_back(static_cast<int>(entries) * begin(r));
    sent.push_back(static_cast<int>(entries) * (begin(r + 1) - begin(r)));
    into.push_back(static_cast<int>(width) * r);
    taken.push_back(static_cast<int>(width));
  }
  MPI_Alltoallv(out.data(), sent.data(), from.data(), MPI_DOUBLE, all.data(), taken.data(), into.data(), MPI_DOUBLE,
                comm_.handle());
  return all;
}

void InterfaceShares::set(const std::vector<Answer>& answers) {
  const auto all = answers_of_all(answers);
  const auto f = Kokkos::create_mirror_view(factors_);
  for (int j = 0; j < share_; ++j) {
    double before = 0.0;  // factor of this rank's first unknown in the last one below
    for (int r = 0; r < comm_.size(); ++r) {
      const double* const answer = &all[4 * (static_cast<std::size_t>(share_) * r + static_cast<std::size_t>(j))];
      const double q_first = answer[0], q_last = answer[1], r_first = answer[2], r_last = answer[3];
      f(r, Share::scale, j) = 1.0 / (1.0 - q_first * before);
      f(r, Share::to_first, j) = f(r, Share::scale, j) * q_first;
      f(r, Share::ahead, j) = f(r, Share::scale, j) * r_first;
      f(r, Share::to_last, j) = q_last;
      f(r, Share::through, j) = q_last * before;
      f(r, Share::above, j) = before = r_last + f(r, Share::through, j) * f(r, Share::ahead, j);
    }
  }
  Kokkos::deep_copy(factors_, f);
}

/// Posts all sends and receives: the own part of every rank's rows, and to every rank its part (`by_share`), or the
/// reverse.
void InterfaceShares::exchange(const double* out, bool by_share, int tag) {
  double* const in = by_share ? host_.data() : packed_.data();
  const int me = comm_.rank(), own = 2 * share_;
  for (int step = 1; step < comm_.size(); ++step) {
    const int from = (me + comm_.size() - step) % comm_.size(), at = 2 * begin(from), count = 2 * begin(from + 1) - at;
    MPI_Irecv(in + (by_share ? std::int64_t{own} * from : at), by_share ? own : count, MPI_DOUBLE, from, tag,
              comm_.handle(), &requests_.emplace_back());
  }
  for (int step = 1; step < comm_.size(); ++step) {
    const int to = (me + step) % comm_.size(), at = 2 * begin(to), count = by_share ? 2 * begin(to + 1) - at : own;
    MPI_Isend(out + (by_share ? at : std::int64_t{own} * to), count, MPI_DOUBLE, to, tag, comm_.handle(),
              &requests_.emplace_back());
    bytes_sent_ += count * static_cast<std::int64_t>(sizeof(double));
  }
  const double* const mine = out + (by_share ? 2 * begin(me) : std::int64_t{own} * me);
  std::copy_n(mine, own, in + (by_share ? std::int64_t{own} * me : 2 * begin(me)));
}

void InterfaceShares::start(const View<double*>& ends) {
  const auto both = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), ends);
  auto to = packed_.begin();
  for (int r = 0; r < comm_.size(); ++r)
    for (int row = 0; row < 2; ++row)
      to = std::copy(both.data() + row * columns_ + begin(r), both.data() + row * columns_ + begin(r + 1), to);
  exchange(packed_.data(), true, share_tag);
}

void InterfaceShares::solve() const {
  const auto x = rows_, f = factors_;
  const int ranks = static_cast<int>(x.extent(0));
  Kokkos::parallel_for(
      "interface shares", Range(0, share_ / lanes), KOKKOS_LAMBDA(int pack) {
        const int j = pack * lanes;
        const auto factor = [&](int r, int k) { return Lanes::load(&f(r, k, j)); };
        Lanes a(0.0), next(0.0);
        for (int r = 0; r < ranks; ++r) {
          const Lanes first = fma(factor(r, Share::scale), Lanes::load(&x(r, 0, j)), factor(r, Share::to_first) * a);
          a = fma(factor(r, Share::through), first, fma(factor(r, Share::to_last), a, Lanes::load(&x(r, 1, j))));
          first.store(&x(r, 0, j));
          a.store(&x(r, 1, j));
        }
        for (int r = ranks - 1; r >= 0; --r) {
          const Lanes first = fma(factor(r, Share::ahead), next, Lanes::load(&x(r, 0, j)));
          Lanes below(0.0);
          if (r > 0) below = fma(factor(r - 1, Share::above), first, Lanes::load(&x(r - 1, 1, j)));
          below.store(&x(r, 0, j));
          next.store(&x(r, 1, j));
          next = first;
        }
      });
}

void InterfaceShares::finish(const View<double*>& below, const View<double*>& above) {
  const auto wait = [&] {
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    requests_.clear();
  };
  wait();
  Kokkos::deep_copy(rows_, host_);
  solve();
  Kokkos::deep_copy(host_, rows_);
  exchange(host_.data(), false, answer_tag);
  wait();
  const auto low = Kokkos::create_mirror_view(below), high = Kokkos::create_mirror_view(above);
  for (int r = 0; r < comm_.size(); ++r) {
    const int from = begin(r), count = begin(r + 1) - from;
    std::copy_n(packed_.data() + 2 * from, count, low.data() + from);
    std::copy_n(packed_.data() + 2 * from + count, count, high.data() + from);
  }
  Kokkos::deep_copy(below, low);
  Kokkos::deep_copy(above, high);
}

}  // namespace cambium::superres
