#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "core/numerics/gemm.hpp"
#include "plugins/submatrix/columns/column_solver.hpp"

namespace cambium::submatrix {

namespace {

/// Nearest bfloat16 (ties to even), as a float.
float rounded_to_bfloat16(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  return std::bit_cast<float>((bits + 0x7fffu + ((bits >> 16) & 1u)) & 0xffff0000u);
}

/// The density matrix (I - sign(A - mu I)) / 2 by matrix products only: Newton-Schulz, X <- X (3 - X^2) / 2, or the
/// third-order member of the Padé family, X <- X (15 - 10 X^2 + 3 X^4) / 8. The full matrix is iterated although one
/// block column is wanted: a shape that suits accelerators. With bfloat16 the factors of every product are rounded to
/// it, the sums are float32; here this shows the error, not the speed. Ends when |X^2 - I|_F is below 0.3 and stops
/// falling by a quarter, or stops falling at all, or is below the square root of the rounding unit: in low precision it
/// would drift away again. That norm per row is the residual reported.
template <class T>
class SignIteration : public ColumnSolver {
 public:
  SignIteration(int blocks, bool pade, bool bfloat16, double mu)
      : matrix_(blocks), pade_(pade), bfloat16_(bfloat16), mu_(mu) {}

  const Spectrum& decompose(const PrincipalIndex& index, const ColumnSet& columns, double eps,
                            const MatrixFunction&) override {
    matrix_.gather(index, columns, eps);
    n_ = index.dimension();
    width_ = index.width;
    first_ = index.centre;
    scale();
    report_ = {};
    double before = 1e300;
    for (int k = 0; k < 100; ++k) {
      const double residual = square();
      report_.residual = residual / std::sqrt(static_cast<double>(n_));
      // A state near mu converges slowly at first, and keeps |X^2 - I|_F near 1: little progress means the end only
      // below.
      if (residual < limit() || (residual < 0.3 && residual > 0.75 * before) || (k > 3 && residual >= before)) break;
      step();
      before = residual;
      ++report_.steps;
    }
    sum_up();
    return spectrum_;
  }

  /// For the occupation at mu, and of energy times occupation: other functions are not to be had from a sign.
  void column(const MatrixFunction& f, std::vector<double>& out) override {
    // One point does not do: at an energy of 1 both are 1.
    const auto is_energy = [&f](double x) { return std::abs(f(x) - x) < 1e-12 * std::max(1.0, std::abs(x)); };
    const bool weighted = is_energy(mu_ - 1.0) && is_energy(mu_ - 2.0);
    out.assign(n_ * width_, 0.0);
    for (int i = 0; i < n_; ++i)
      for (int q = 0; q < width_; ++q) {
        double value = density(i, q);
        if (weighted) {
          value = 0.0;
          for (int k = 0; k < n_; ++k) value += static_cast<double>(matrix_.a()[i * matrix_.ld() + k]) * density(k, q);
        }
        out[i * width_ + q] = value;
      }
  }

  const SolveReport& report() const override { return report_; }

 private:
  double limit() const { return std::sqrt(static_cast<double>(n_)) * (sizeof(T) == 8 ? 1e-8 : 1e-6); }
  double density(int i, int q) const {
    const double sign = x_[i * n_ + first_ + q];
    return 0.5 * ((i == first_ + q ? 1.0 : 0.0) - sign);
  }
  std::size_t size() const { return static_cast<std::size_t>(n_) * static_cast<std::size_t>(n_); }

  /// X0 = (A - mu I) over a bound of its norm.
  void scale() {
    x_.resize(size());
    y_.resize(size());
    z_.resize(size());
    double squares = 0.0, largest = 0.0;
    for (int i = 0; i < n_; ++i) {
      double row = 0.0;
      for (int j = 0; j < n_; ++j) {
        const double value = static_cast<double>(matrix_.a()[i * matrix_.ld() + j]) - (i == j ? mu_ : 0.0);
        x_[i * n_ + j] = static_cast<T>(value);
        squares += value * value;
        row += std::abs(value);
      }
      largest = std::max(largest, row);
    }
    const T factor = static_cast<T>(1.0 / std::min(std::sqrt(squares), largest));
    for (auto& value : x_) value *= factor;
  }
  void multiply(std::vector<T>& a, std::vector<T>& b, std::vector<T>& c) {
    if constexpr (sizeof(T) == 4)
      if (bfloat16_)
        for (auto* m : {&a, &b})
          for (auto& value : *m) value = rounded_to_bfloat16(value);
    host_gemm<T>(false, false, n_, n_, n_, T(1), a.data(), n_, b.data(), n_, T(0), c.data(), n_);
    report_.flops += 2.0 * n_ * n_ * n_;
  }
  /// y = X^2; returns |X^2 - I|_F.
  double square() {
    multiply(x_, x_, y_);
    double sum = 0.0;
    for (int i = 0; i < n_; ++i)
      for (int j = 0; j < n_; ++j) {
        const double d = static_cast<double>(y_[i * n_ + j]) - (i == j ? 1.0 : 0.0);
        sum += d * d;
      }
    return std::sqrt(sum);
  }
  void step() {
    if (pade_) {
      multiply(y_, y_, z_);
      for (std::size_t k = 0; k < size(); ++k) y_[k] = T(0.375) * z_[k] - T(1.25) * y_[k];
      for (int i = 0; i < n_; ++i) y_[i * n_ + i] += T(1.875);
    } else {
      for (auto& value : y_) value *= T(-0.5);
      for (int i = 0; i < n_; ++i) y_[i * n_ + i] += T(1.5);
    }
    multiply(x_, y_, z_);
    std::swap(x_, z_);
  }
  /// Two nodes that carry the block's electrons and energy below mu, and what is left of its trace above.
  void sum_up() {
    double electrons = 0.0, energy = 0.0, trace = 0.0;
    for (int q = 0; q < width_; ++q) {
      electrons += density(first_ + q, q);
      const T* row = matrix_.a() + static_cast<std::ptrdiff_t>(first_ + q) * matrix_.ld();
      trace += row[first_ + q];
      for (int k = 0; k < n_; ++k) energy += static_cast<double>(row[k]) * density(k, q);
    }
    const double empty = width_ - electrons;
    spectrum_ = {{electrons != 0.0 ? energy / electrons : mu_ - 1.0,
                  std::abs(empty) > 1e-9 ? (trace - energy) / empty : mu_ + 1.0},
                 {electrons, empty}};
  }

  Gathered<T> matrix_;
  std::vector<T> x_, y_, z_;
  Spectrum spectrum_;
  SolveReport report_;
  bool pade_, bfloat16_;
  double mu_;
  int n_ = 0, width_ = 0, first_ = 0;
};

}  // namespace

std::unique_ptr<ColumnSolver> make_sign_iteration(int blocks, bool pade, Precision precision, double mu) {
  if (precision == Precision::float64) return std::make_unique<SignIteration<double>>(blocks, pade, false, mu);
  return std::make_unique<SignIteration<float>>(blocks, pade, precision == Precision::bfloat16, mu);
}

}  // namespace cambium::submatrix
