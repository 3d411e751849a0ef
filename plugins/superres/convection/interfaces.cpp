#include "plugins/superres/convection/interfaces.hpp"

#include <algorithm>

#include "plugins/superres/convection/rows.hpp"

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
    : ends("ends", 2 * static_cast<std::size_t>(columns)),
      below("below", columns),
      above("above", columns),
      comm_(comm),
      columns_(columns),
      block_(block),
      matrices_(matrices),
      gathered_("gathered ends", 2 * static_cast<std::size_t>(columns) * comm.size()),
      gain_("interface gains", 2, 2 * comm.size(), columns) {
  if (share_memory && comm.size() > 1) pieces_ = SharedPieces::make(comm, 2 * std::int64_t{columns});
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

void Interfaces::gather() {
  const auto mine = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), ends);
  const auto all = Kokkos::create_mirror_view(gathered_);
  const int count = 2 * columns_;
  if (pieces_) {
    std::copy_n(mine.data(), count, pieces_->mine());
    pieces_->start();
    for (int rank = 0; rank < comm_.size(); ++rank) std::copy_n(pieces_->of(rank), count, all.data() + std::size_t(rank) * count);
  } else {
    MPI_Allgather(mine.data(), count, MPI_DOUBLE, all.data(), count, MPI_DOUBLE, comm_.handle());
  }
  Kokkos::deep_copy(gathered_, all);
}

void Interfaces::solve() {
  const int ranks = comm_.size(), columns = columns_;
  if (ranks == 1) return;
  gather();
  const auto gathered = gathered_;
  const auto gain = gain_;
  const auto l = below, u = above;
  Kokkos::parallel_for("interfaces", Range(0, columns / lanes), KOKKOS_LAMBDA(int pack) {
    const int j = pack * lanes;
    Lanes sum_l(0.0), sum_u(0.0);
    for (int k = 0; k < 2 * ranks; ++k) {
      const Lanes p = Lanes::load(&gathered(static_cast<std::size_t>(k) * columns + j));
      sum_l = fma(Lanes::load(&gain(0, k, j)), p, sum_l);
      sum_u = fma(Lanes::load(&gain(1, k, j)), p, sum_u);
    }
    sum_l.store(&l(j));
    sum_u.store(&u(j));
  });
}

}  // namespace cambium::superres
