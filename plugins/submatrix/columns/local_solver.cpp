#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/numerics/gemm.hpp"
#include "core/numerics/symmetric_eigen.hpp"
#include "plugins/submatrix/columns/column_solver.hpp"

namespace cambium::submatrix {

namespace {

/// The generalised eigenproblem K C = S C e of one submatrix, C^T S C = 1. The block column of f is C f(e) C^T, and the
/// trace of f S over the block is sum_k f(e_k) w_k with w_k = sum of C_ik (S C)_ik over the rows i of the block. With a
/// threshold the problem is solved in the eigenvectors of S whose eigenvalues are above it.
class LocalDiagonaliser : public ColumnSolver {
 public:
  LocalDiagonaliser(int blocks, const ColumnSet& overlap, double threshold)
      : k_(blocks), s_(blocks), overlap_(overlap), threshold_(threshold) {}

  const Spectrum& decompose(const PrincipalIndex& index, const ColumnSet& columns, double,
                            const MatrixFunction&) override {
    n_ = index.dimension();
    width_ = index.width;
    centre_ = index.centre;
    k_.gather(index, columns, 0.0);
    s_.gather(index, overlap_, 0.0);
    const auto n = static_cast<std::size_t>(n_), ld = static_cast<std::size_t>(k_.ld());
    const double* s = s_.a() + static_cast<std::size_t>(centre_) * ld;
    rows_.assign(s, s + static_cast<std::size_t>(width_) * ld);
    spectrum_.node.resize(n);
    report_ = {1, 0.0, 14.0 * n_ * n_ * n_};
    if (threshold_ > 0.0)
      solve_in_eigenvectors(index.column);
    else if (!generalised_eigenvectors(n_, k_.ld(), k_.a(), s_.a(), spectrum_.node.data()))
      throw InputError(
          fmt::format("S is not positive definite: the submatrix of block {} (counted from 0) has no Cholesky factor; "
                      "look for atoms that coincide there, or for functions that depend linearly on others",
                      index.column));
    spectrum_.weight.assign(spectrum_.node.size(), 0.0);
    for (std::size_t k = 0; k < spectrum_.node.size(); ++k)
      for (std::size_t q = 0; q < static_cast<std::size_t>(width_); ++q) {
        double sum = 0.0;
        for (std::size_t i = 0; i < n; ++i) sum += rows_[q * ld + i] * vector(k)[i];
        spectrum_.weight[k] += sum * vector(k)[static_cast<std::size_t>(centre_) + q];
      }
    if (threshold_ <= 0.0) report_.smallest_overlap = smallest_eigenvalue();
    return spectrum_;
  }

  void column(const MatrixFunction& f, std::vector<double>& out) override {
    const auto n = static_cast<std::size_t>(n_), w = static_cast<std::size_t>(width_);
    panel_.assign(w * n, 0.0);
    for (std::size_t k = 0; k < spectrum_.node.size(); ++k) {
      const double value = f(spectrum_.node[k]), *v = vector(k);
      if (value == 0.0) continue;
      for (std::size_t q = 0; q < w; ++q) {
        const double factor = value * v[static_cast<std::size_t>(centre_) + q];
        for (std::size_t i = 0; i < n; ++i) panel_[q * n + i] += factor * v[i];
      }
    }
    report_.flops += 2.0 * n_ * n_ * width_;
    out.resize(panel_.size());
    for (std::size_t q = 0; q < w; ++q)
      for (std::size_t i = 0; i < n; ++i) out[i * w + q] = panel_[q * n + i];
  }

  const SolveReport& report() const override { return report_; }

 private:
  /// Rows of k_ become the eigenvectors, fewer than before: X = U s^-1/2 of S = U s U^T, then X^T K X.
  void solve_in_eigenvectors(int column) {
    const auto n = static_cast<std::size_t>(n_), ld = static_cast<std::size_t>(k_.ld());
    std::vector<double> x(n * n), value(n);
    for (std::size_t i = 0; i < n; ++i) std::copy_n(s_.a() + i * ld, n, x.data() + i * n);
    symmetric_eigenvectors(n_, x.data(), value.data());
    if (value[0] <= -threshold_)
      throw InputError(
          fmt::format("S is not positive definite: an eigenvalue of {:.6g} near block {} (counted from 0); look for "
                      "atoms that coincide there, or for functions that depend linearly on others",
                      value[0], column));
    const auto first =
                   static_cast<std::size_t>(std::upper_bound(value.begin(), value.end(), threshold_) - value.begin()),
               m = n - first;
    for (std::size_t k = first; k < n; ++k)
      for (std::size_t i = 0; i < n; ++i) x[k * n + i] /= std::sqrt(value[k]);
    const double* kept = x.data() + first * n;
    std::vector<double> half(m * n), small(m * m);
    const int rows = static_cast<int>(m);
    std::vector<double> h(n * n);
    for (std::size_t i = 0; i < n; ++i) std::copy_n(k_.a() + i * ld, n, h.data() + i * n);
    host_gemm<double>(false, false, rows, n_, n_, 1.0, kept, n_, h.data(), n_, 0.0, half.data(), n_);
    host_gemm<double>(false, true, rows, rows, n_, 1.0, half.data(), n_, kept, n_, 0.0, small.data(), rows);
    spectrum_.node.resize(m);
    symmetric_eigenvectors(rows, small.data(), spectrum_.node.data());
    host_gemm<double>(false, false, rows, n_, rows, 1.0, small.data(), rows, kept, n_, 0.0, half.data(), n_);
    for (std::size_t k = 0; k < m; ++k) std::copy_n(half.data() + k * n, n, k_.a() + k * ld);
  }
  /// For S, whose Cholesky factor is what s_ holds after the generalised problem, lower by columns: inverse iteration
  /// from the function with the smallest pivot.
  double smallest_eigenvalue() {
    const auto n = static_cast<std::size_t>(n_), ld = static_cast<std::size_t>(s_.ld());
    const double* l = s_.a();
    std::size_t weakest = 0;
    for (std::size_t k = 1; k < n; ++k)
      if (l[k * ld + k] < l[weakest * ld + weakest]) weakest = k;
    std::vector<double> x(n, 0.0);
    x[weakest] = 1.0;
    double growth = 0.0;
    for (int pass = 0; pass < 4; ++pass) {
      const std::vector<double> before = x;
      for (std::size_t k = 0; k < n; ++k) {
        x[k] /= l[k * ld + k];
        for (std::size_t i = k + 1; i < n; ++i) x[i] -= l[k * ld + i] * x[k];
      }
      for (std::size_t k = n; k-- > 0;) {
        for (std::size_t i = k + 1; i < n; ++i) x[k] -= l[k * ld + i] * x[i];
        x[k] /= l[k * ld + k];
      }
      growth = 0.0;
      double length = 0.0;
      for (std::size_t k = 0; k < n; ++k) {
        growth += before[k] * x[k];
        length += x[k] * x[k];
      }
      for (double& value : x) value /= std::sqrt(length);
    }
    return 1.0 / growth;
  }
  const double* vector(std::size_t k) { return k_.a() + k * static_cast<std::size_t>(k_.ld()); }

  Gathered<double> k_, s_;
  const ColumnSet& overlap_;
  double threshold_;
  Spectrum spectrum_;
  SolveReport report_;
  std::vector<double> rows_, panel_;  ///< rows of S of the block; the block column, transposed
  int n_ = 0, width_ = 0, centre_ = 0;
};

}  // namespace

std::unique_ptr<ColumnSolver> make_local_diagonaliser(int blocks, const ColumnSet& overlap, double threshold) {
  return std::make_unique<LocalDiagonaliser>(blocks, overlap, threshold);
}

}  // namespace cambium::submatrix
