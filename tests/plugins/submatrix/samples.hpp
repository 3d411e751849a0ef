#pragma once
// Matrices that tests make themselves, and plain dense answers.
#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "core/parallel/context.hpp"
#include "plugins/submatrix/density/density_matrix.hpp"

extern "C" {
void dsyev_(const char*, const char*, const int*, double*, const int*, double*, double*, const int*, int*);
void dsygv_(const int*, const char*, const char*, const int*, double*, const int*, double*, const int*, double*,
            double*, const int*, int*);
}

namespace cambium::submatrix::test {

struct World {
  Comm comm;
  Log log;
  Timing timing;
  Context context{comm, log, timing};
  explicit World(MPI_Comm parent = MPI_COMM_WORLD) : comm(parent) {}
};

/// Row-major symmetric matrix of random numbers in (-1, 1).
inline std::vector<double> random_symmetric(int n, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  std::vector<double> a(n * n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) a[i * n + j] = a[j * n + i] = uniform(engine);
  return a;
}

/// Eigenvalues and eigenvectors (columns of the row-major result; LAPACK's dsyev).
struct Dense {
  std::vector<double> value, vector;
};
inline Dense dense_eigen(std::vector<double> a, int n) {
  Dense out;
  out.value.resize(n);
  std::vector<double> work(40 * n);
  const int size = static_cast<int>(work.size());
  int info = 0;
  dsyev_("V", "L", &n, a.data(), &n, out.value.data(), work.data(), &size, &info);
  out.vector.resize(a.size());
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) out.vector[i * n + j] = a[j * n + i];
  return out;
}

/// A chain of molecules with two bands and a gap: blocks of 2 or 3 functions, overlap and coupling that fall off
/// exponentially. Distributed over `comm`.
class Chain {
 public:
  explicit Chain(int blocks) : blocks_(blocks) {
    for (int b = 0; b < blocks; ++b) sizes_.push_back(b % 3 == 1 ? 3 : 2);
  }
  int size(int b) const { return sizes_[b]; }
  /// Element of S or H between function i of block a and j of block b of an open chain.
  double overlap(int a, int i, int b, int j) const {
    if (a == b) return i == j ? 1.0 : 0.05;
    return 0.12 * std::exp(-1.1 * (std::abs(a - b) - 1)) * std::cos(i + j + 0.3 * (a + b));
  }
  double hamiltonian(int a, int i, int b, int j) const {
    if (a == b) return i == j ? (i == 0 ? -0.8 : 0.5 + 0.1 * i) + 0.02 * std::sin(7.0 * a) : 0.03;
    return 0.10 * std::exp(-1.0 * (std::abs(a - b) - 1)) * std::cos(1.0 + i + j + 0.7 * (a + b));
  }
  int range() const { return 24; }

  MatrixSystem system(const Comm& comm) const {
    auto layout = std::make_shared<const BlockLayout>(sizes_);
    const std::vector<double> cost(blocks_, 1.0);
    MatrixSystem out{layout,
                     ColumnRanges::balanced(cost, comm.size()),
                     BlockColumns(layout),
                     BlockColumns(layout),
                     blocks_,
                     2.0 * blocks_,
                     {},
                     {},
                     "chain",
                     {}};
    for (int b = out.ranges.begin(comm.rank()); b < out.ranges.end(comm.rank()); ++b) {
      out.overlap.start_column(b);
      out.hamiltonian.start_column(b);
      for (int a = std::max(0, b - range()); a <= std::min(blocks_ - 1, b + range()); ++a) {
        double *s = out.overlap.add_block(a), *h = out.hamiltonian.add_block(a);
        for (int i = 0; i < size(a); ++i)
          for (int j = 0; j < size(b); ++j) {
            s[i * size(b) + j] = overlap(a, i, b, j);
            h[i * size(b) + j] = hamiltonian(a, i, b, j);
          }
      }
    }
    out.overlap.finish();
    out.hamiltonian.finish();
    for (int b = 0; b < blocks_; ++b) out.block_atoms.push_back({{1, size(b)}});
    return out;
  }

  /// Eigenvalues of H c = e S c.
  std::vector<double> levels() const {
    std::vector<double> h, s;
    int n = 0;
    for (int b : sizes_) n += b;
    h.reserve(n * n);
    for (int a = 0; a < blocks_; ++a)
      for (int i = 0; i < size(a); ++i)
        for (int b = 0; b < blocks_; ++b)
          for (int j = 0; j < size(b); ++j) {
            const bool far = std::abs(a - b) > range();
            h.push_back(far ? 0.0 : hamiltonian(a, i, b, j));
            s.push_back(far ? 0.0 : overlap(a, i, b, j));
          }
    std::vector<double> value(n), work(static_cast<std::size_t>(40 * n));
    const int type = 1, size = static_cast<int>(work.size());
    int info = 0;
    dsygv_(&type, "N", "L", &n, h.data(), &n, s.data(), &n, value.data(), work.data(), &size, &info);
    if (info != 0) value.clear();
    return value;
  }

 private:
  int blocks_;
  std::vector<int> sizes_;
};

}  // namespace cambium::submatrix::test
