#include <algorithm>
#include <cmath>

#include "core/numerics/panel.hpp"
#include "core/numerics/symmetric_eigen.hpp"
#include "plugins/submatrix/columns/block_lanczos.hpp"
#include "plugins/submatrix/columns/column_solver.hpp"

namespace cambium::submatrix {

namespace {

/// Block column of f(A) from a Krylov space that grows until the last block of f(T) E_1, the coefficients of the newest
/// basis vectors, is below the tolerance in the Frobenius norm. If it does not converge, states are too close to a step
/// of f: then the submatrix is diagonalised, which costs more and is exact.
template <class T>
class LanczosSolver : public ColumnSolver {
 public:
  LanczosSolver(std::unique_ptr<Submatrix<T>> matrix, const KrylovOptions& options)
      : options_(options), matrix_(std::move(matrix)) {}

  const Spectrum& decompose(const PrincipalIndex& index, const ColumnSet& columns, double eps,
                            const MatrixFunction& f) override {
    matrix_->gather(index, columns, eps);
    n_ = index.dimension();
    width_ = index.width;
    report_.fell_back = false;
    lanczos_.start([this](int width, const T* x, T* y) { matrix_->multiply(width, x, y); }, matrix_->multiply_flops(),
                   n_, matrix_->ld(), index.centre, width_);
    for (int blocks = options_.first;; blocks += options_.step) {
      lanczos_.extend(std::min(blocks, options_.most));
      diagonalise_projected();
      report_.residual = lanczos_.exhausted() ? 0.0 : last_block(f);
      if (lanczos_.exhausted() || report_.residual <= options_.tolerance || lanczos_.blocks() >= options_.most) break;
    }
    report_.steps = lanczos_.blocks();
    report_.flops = lanczos_.flops();
    if (options_.fall_back && report_.residual > options_.tolerance)
      diagonalise(index.centre);
    else
      read_spectrum(eigen_);
    return spectrum_;
  }

  void column(const MatrixFunction& f, std::vector<double>& out) override {
    if (report_.fell_back) return exact_column(f, out);
    const int k = lanczos_.projected_rows();
    coefficients(f);
    std::vector<T> narrow(coefficients_.begin(), coefficients_.end());
    const int ld = matrix_->ld();
    T* panel = panel_.reserve(width_ * ld);
    lanczos_.combine(narrow.data(), panel);
    report_.flops += 2.0 * n_ * k * width_;
    out.resize(n_ * width_);
    for (int q = 0; q < width_; ++q)
      for (int i = 0; i < n_; ++i) out[i * width_ + q] = static_cast<double>(panel[q * ld + i]);
  }

  const SolveReport& report() const override { return report_; }

 private:
  /// Diagonalises the full submatrix instead of its projection.
  void diagonalise(int centre) {
    const int ld = matrix_->ld();
    const T* a = matrix_->a();
    dense_.assign(a, a + static_cast<std::ptrdiff_t>(n_) * ld);
    exact_.compute(dense_.data(), n_, ld, centre, width_);
    report_.fell_back = true;
    report_.residual = 0.0;
    report_.flops += 4.0 / 3.0 * n_ * n_ * n_;
    read_spectrum(exact_);
  }
  void exact_column(const MatrixFunction& f, std::vector<double>& out) {
    const auto values = exact_.values();
    f_.resize(values.size());
    for (std::size_t j = 0; j < f_.size(); ++j) f_[j] = spectrum_weight(exact_, j) > least_weight ? f(values[j]) : 0.0;
    std::vector<double> rows(n_ * width_);
    exact_.column(f_, rows.data());
    report_.flops += 6.0 * n_ * n_ * width_;
    out.resize(rows.size());
    for (int q = 0; q < width_; ++q)
      for (int i = 0; i < n_; ++i) out[i * width_ + q] = rows[q * n_ + i];
  }
  void diagonalise_projected() {
    const int k = lanczos_.projected_rows();
    projected_.resize(static_cast<std::size_t>(k) * static_cast<std::size_t>(k));
    lanczos_.projected(projected_.data());
    eigen_.compute(projected_.data(), k, k, 0, width_);
  }
  /// f(T) E_1: width x k, row-major.
  void coefficients(const MatrixFunction& f) {
    const auto values = eigen_.values();
    f_.resize(values.size());
    for (std::size_t j = 0; j < f_.size(); ++j) f_[j] = spectrum_weight(eigen_, j) > least_weight ? f(values[j]) : 0.0;
    coefficients_.resize(values.size() * static_cast<std::size_t>(width_));
    eigen_.column(f_, coefficients_.data());
  }
  /// Nodes without weight belong to directions that had vanished; f need not exist there.
  static constexpr double least_weight = 1e-24;
  double spectrum_weight(const SymmetricSpectrum& eigen, std::size_t j) const {
    double weight = 0.0;
    for (std::size_t q = 0; q < static_cast<std::size_t>(width_); ++q) {
      const double c = eigen.components()[j * static_cast<std::size_t>(width_) + q];
      weight += c * c;
    }
    return weight;
  }
  double last_block(const MatrixFunction& f) {
    coefficients(f);
    const int k = lanczos_.projected_rows();
    double sum = 0.0;
    for (int q = 0; q < width_; ++q)
      for (int i = k - lanczos_.last_rows(); i < k; ++i) {
        const double c = coefficients_[q * k + i];
        sum += c * c;
      }
    return std::sqrt(sum);
  }
  void read_spectrum(const SymmetricSpectrum& eigen) {
    const auto values = eigen.values();
    spectrum_.node.clear();
    spectrum_.weight.clear();
    for (std::size_t j = 0; j < values.size(); ++j) {
      const double weight = spectrum_weight(eigen, j);
      if (weight <= least_weight) continue;
      spectrum_.node.push_back(values[j]);
      spectrum_.weight.push_back(weight);
    }
  }

  KrylovOptions options_;
  std::unique_ptr<Submatrix<T>> matrix_;
  BlockLanczos<T> lanczos_;
  SymmetricSpectrum eigen_, exact_;
  Spectrum spectrum_;
  SolveReport report_;
  AlignedBuffer<T> panel_;
  std::vector<double> projected_, f_, coefficients_, dense_;
  int n_ = 0, width_ = 0;
};

}  // namespace

template <class T>
std::unique_ptr<ColumnSolver> make_lanczos(int blocks, const KrylovOptions& options) {
  return make_lanczos<T>(std::make_unique<Gathered<T>>(blocks), options);
}
template <class T>
std::unique_ptr<ColumnSolver> make_lanczos(std::unique_ptr<Submatrix<T>> matrix, const KrylovOptions& options) {
  return std::make_unique<LanczosSolver<T>>(std::move(matrix), options);
}
template std::unique_ptr<ColumnSolver> make_lanczos<float>(int, const KrylovOptions&);
template std::unique_ptr<ColumnSolver> make_lanczos<double>(int, const KrylovOptions&);
template std::unique_ptr<ColumnSolver> make_lanczos<double>(std::unique_ptr<Submatrix<double>>, const KrylovOptions&);

}  // namespace cambium::submatrix
