#include "core/numerics/symmetric_eigen.hpp"
#include "plugins/submatrix/columns/column_solver.hpp"

namespace cambium::submatrix {

namespace {

/// All eigenvalues of the submatrix; of the eigenvectors only their components on the wanted block are kept.
class Diagonaliser : public ColumnSolver {
 public:
  explicit Diagonaliser(std::unique_ptr<Submatrix<double>> matrix) : matrix_(std::move(matrix)) {}

  const Spectrum& decompose(const PrincipalIndex& index, const ColumnSet& columns, double eps,
                            const MatrixFunction&) override {
    matrix_->gather(index, columns, eps);
    n_ = index.dimension();
    width_ = index.width;
    eigen_.compute(matrix_->a(), n_, matrix_->ld(), index.centre, width_);
    const auto values = eigen_.values();
    spectrum_.node.assign(values.begin(), values.end());
    spectrum_.weight.assign(values.size(), 0.0);
    const auto w = static_cast<std::size_t>(width_);
    for (std::size_t j = 0; j < values.size(); ++j)
      for (std::size_t q = 0; q < w; ++q)
        spectrum_.weight[j] += eigen_.components()[j * w + q] * eigen_.components()[j * w + q];
    // The reduction; the tridiagonal problem and the columns are of order n^2.
    report_ = {1, 0.0, 4.0 / 3.0 * n_ * n_ * n_};
    return spectrum_;
  }

  void column(const MatrixFunction& f, std::vector<double>& out) override {
    std::vector<double> values(eigen_.values().size()), panel(static_cast<std::size_t>(n_ * width_));
    for (std::size_t j = 0; j < values.size(); ++j) values[j] = f(eigen_.values()[j]);
    eigen_.column(values, panel.data());
    report_.flops += 6.0 * n_ * n_ * width_;
    out.resize(panel.size());
    for (int q = 0; q < width_; ++q)
      for (int i = 0; i < n_; ++i) out[i * width_ + q] = panel[q * n_ + i];
  }

  const SolveReport& report() const override { return report_; }

 private:
  std::unique_ptr<Submatrix<double>> matrix_;
  SymmetricSpectrum eigen_;
  Spectrum spectrum_;
  SolveReport report_;
  int n_ = 0, width_ = 0;
};

}  // namespace

std::unique_ptr<ColumnSolver> make_diagonaliser(int blocks) {
  return make_diagonaliser(std::make_unique<Gathered<double>>(blocks));
}
std::unique_ptr<ColumnSolver> make_diagonaliser(std::unique_ptr<Submatrix<double>> matrix) {
  return std::make_unique<Diagonaliser>(std::move(matrix));
}

}  // namespace cambium::submatrix
