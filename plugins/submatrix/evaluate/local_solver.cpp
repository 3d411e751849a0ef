#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/numerics/symmetric_eigen.hpp"
#include "plugins/submatrix/evaluate/column_solver.hpp"

namespace cambium::submatrix {

namespace {

/// The generalised eigenproblem K C = S C e of one submatrix, C^T S C = 1. The block column of f is C f(e) C^T, and the
/// trace of f S over the block is sum_k f(e_k) w_k with w_k = sum of C_ik (S C)_ik over the rows i of the block.
class LocalDiagonaliser : public ColumnSolver {
 public:
  LocalDiagonaliser(int blocks, const ColumnSet& overlap) : k_(blocks), s_(blocks), overlap_(overlap) {}

  const Spectrum& decompose(const PrincipalIndex& index, const ColumnSet& columns, double, const MatrixFunction&) override {
    n_ = index.dimension(), width_ = index.width, centre_ = index.centre;
    k_.gather(index, columns, 0.0);
    s_.gather(index, overlap_, 0.0);
    const auto n = static_cast<std::size_t>(n_), ld = static_cast<std::size_t>(k_.ld());
    const double* s = s_.a() + static_cast<std::size_t>(centre_) * ld;
    rows_.assign(s, s + static_cast<std::size_t>(width_) * ld);
    spectrum_.node.resize(n);
    spectrum_.weight.assign(n, 0.0);
    if (!generalised_eigenvectors(n_, k_.ld(), k_.a(), s_.a(), spectrum_.node.data()))
      throw InputError(fmt::format("S is not positive definite: the submatrix of block {} (counted from 0) has no Cholesky factor; look for atoms that "
                                   "coincide there, or for functions that depend linearly on others",
                                   index.column));
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t q = 0; q < static_cast<std::size_t>(width_); ++q) {
        double sum = 0.0;
        for (std::size_t i = 0; i < n; ++i) sum += rows_[q * ld + i] * vector(k)[i];
        spectrum_.weight[k] += sum * vector(k)[static_cast<std::size_t>(centre_) + q];
      }
    report_ = {1, 0.0, 14.0 * n_ * n_ * n_};
    return spectrum_;
  }

  void column(const MatrixFunction& f, std::vector<double>& out) override {
    const auto n = static_cast<std::size_t>(n_), w = static_cast<std::size_t>(width_);
    panel_.assign(w * n, 0.0);
    for (std::size_t k = 0; k < n; ++k) {
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
  const double* vector(std::size_t k) { return k_.a() + k * static_cast<std::size_t>(k_.ld()); }

  Gathered<double> k_, s_;
  const ColumnSet& overlap_;
  Spectrum spectrum_;
  SolveReport report_;
  std::vector<double> rows_, panel_;  ///< rows of S of the block; the block column, transposed
  int n_ = 0, width_ = 0, centre_ = 0;
};

}  // namespace

std::unique_ptr<ColumnSolver> make_local_diagonaliser(int blocks, const ColumnSet& overlap) { return std::make_unique<LocalDiagonaliser>(blocks, overlap); }

}  // namespace cambium::submatrix
