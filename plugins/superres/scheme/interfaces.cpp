#include "plugins/superres/scheme/interfaces.hpp"

#include <algorithm>

#include "plugins/superres/scheme/rows.hpp"

namespace cambium::superres {
namespace {

/// Solves A^T x = e in place; the matrices of diffusion and of a Laplacian need no pivots.
std::vector<double> row_of_inverse(const std::vector<double>& matrix, int n, int unknown) {
  std::vector<double> a(n * n), x(n, 0.0);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) a[i * n + j] = matrix[j * n + i];
  x[unknown] = 1.0;
  for (int c = 0; c < n; ++c)
    for (int i = c + 1; i < n; ++i) {
      const double factor = a[i * n + c] / a[c * n + c];
      if (factor == 0.0) continue;
      for (int j = c; j < n; ++j) a[i * n + j] -= factor * a[c * n + j];
      x[i] -= factor * x[c];
    }
  for (int i = n - 1; i >= 0; --i) {
    for (int j = i + 1; j < n; ++j) x[i] -= a[i * n + j] * x[j];
    x[i] /= a[i * n + i];
  }
  return x;
}

}  // namespace

Interfaces::Interfaces(const Comm& comm, int columns, int block, int matrices, bool share_memory)
    : ends("ends", 2 * static_cast<std::size_t>(columns)), below("below", columns), above("above", columns),
      comm_(comm), columns_(columns), block_(block), matrices_(matrices),
      gathered_("gathered ends", 2 * static_cast<std::size_t>(columns) * comm.size()),
      mine_(Kokkos::create_mirror_view(ends)), all_(Kokkos::create_mirror_view(gathered_)),
      gain_("interface gains", 2, 2 * comm.size(), columns) {
  if (share_memory && comm.size() > 1) pieces_ = SharedPieces::make(comm, 2 * std::int64_t{columns});
}

void Interfaces::Response::add(const Sweep& sweep, double behind_first, double behind_last, double ahead_first,
                               double ahead_last) {
  // Nobody reads the row that a sweep begins with at a plate.
  q_first.push_back(sweep.down ? ahead_last : sweep.behind ? behind_first : 0.0);
  q_last.push_back(sweep.behind ? behind_last : 0.0);
  r_first.push_back(sweep.behind ? ahead_first : 0.0);
  r_last.push_back(sweep.down ? 0.0 : ahead_last);
}

void Interfaces::set(const Response& response) {
  const int ranks = comm_.size(), n = 2 * ranks;
  if (ranks == 1) return;
  std::vector<double> mine(4 * matrices_), all(mine.size() * ranks);
  for (int m = 0; m < matrices_; ++m) {
    mine[4 * m] = response.q_first[m], mine[4 * m + 1] = response.q_last[m];
    mine[4 * m + 2] = response.r_first[m], mine[4 * m + 3] = response.r_last[m];
  }
  MPI_Allgather(mine.data(), 4 * matrices_, MPI_DOUBLE, all.data(), 4 * matrices_, MPI_DOUBLE, comm_.handle());
  const auto gain = Kokkos::create_mirror_view(gain_);
  for (int m = 0; m < matrices_; ++m) {
    // Unknowns: first and last row of each rank in turn.
    std::vector<double> a(n * n, 0.0);
    for (int r = 0; r < ranks; ++r) {
      const double* v = &all[(static_cast<std::size_t>(r) * matrices_ + m) * 4];
      for (int end = 0; end < 2; ++end) {
        a[(2 * r + end) * n + 2 * r + end] = 1.0;
        if (r > 0) a[(2 * r + end) * n + 2 * r - 1] = -v[end];
        if (r + 1 < ranks) a[(2 * r + end) * n + 2 * r + 2] = -v[2 + end];
      }
    }
    const int l = 2 * comm_.rank() - 1, u = 2 * comm_.rank() + 2;
    const auto to_l = l >= 0 ? row_of_inverse(a, n, l) : std::vector<double>(n, 0.0);
    const auto to_u = u < n ? row_of_inverse(a, n, u) : std::vector<double>(n, 0.0);
    for (int repeat = m * block_; repeat < columns_; repeat += matrices_ * block_)
      for (int j = repeat; j < repeat + block_; ++j)
        for (int k = 0; k < n; ++k) gain(0, k, j) = to_l[k], gain(1, k, j) = to_u[k];
  }
  Kokkos::deep_copy(gain_, gain);
}

void Interfaces::start() {
  if (comm_.size() == 1) return;
  Kokkos::deep_copy(mine_, ends);
  if (pieces_) {
    const auto [from, to] = read(comm_.rank());
    std::copy(mine_.data() + from, mine_.data() + to, pieces_->mine() + from);
    pieces_->start();
  } else {
    const int count = 2 * columns_;
    MPI_Iallgather(mine_.data(), count, MPI_DOUBLE, all_.data(), count, MPI_DOUBLE, comm_.handle(), &request_);
  }
}

/// What others read of the ends of `rank`.
std::pair<int, int> Interfaces::read(int rank) const {
  return {rank == 0 ? columns_ : 0, rank + 1 == comm_.size() ? columns_ : 2 * columns_};
}

void Interfaces::gather() {
  if (pieces_) {
    for (int rank = 0; rank < comm_.size(); ++rank) {
      const auto [from, to] = read(rank);
      const double* const piece = pieces_->of(rank);
      std::copy(piece + from, piece + to, all_.data() + std::size_t{2} * columns_ * rank + from);
    }
  } else {
    MPI_Wait(&request_, MPI_STATUS_IGNORE);
  }
  Kokkos::deep_copy(gathered_, all_);
}

void Interfaces::finish() {
  const int ranks = comm_.size(), columns = columns_;
  if (ranks == 1) return;
  gather();
  const auto gathered = gathered_;
  const auto gain = gain_;
  const auto l = below, u = above;
  Kokkos::parallel_for(
      "interfaces", Range(0, columns / lanes), KOKKOS_LAMBDA(int pack) {
        const int j = pack * lanes;
        Lanes sum_l(0.0), sum_u(0.0);
        for (int k = 1; k < 2 * ranks - 1; ++k) {  // without the rows at the plates
          const Lanes p = Lanes::load(&gathered(static_cast<std::size_t>(k) * columns + j));
          sum_l = fma(Lanes::load(&gain(0, k, j)), p, sum_l);
          sum_u = fma(Lanes::load(&gain(1, k, j)), p, sum_u);
        }
        sum_l.store(&l(j));
        sum_u.store(&u(j));
      });
}

std::vector<std::pair<int, int>> parts_of(int columns, int ranks) {
  constexpr int narrow = 8, wide = 8 * strip;
  const int unit = columns >= 4 * wide ? wide : narrow, middle = columns / 2 / unit * unit;
  if (ranks == 1 || middle == 0) return {{0, columns}};
  return {{0, middle}, {middle, columns}};
}

}  // namespace cambium::superres
