#include "core/numerics/symmetric_eigen.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/base/error.hpp"

extern "C" {
void dsytrd_(const char* uplo, const int* n, double* a, const int* lda, double* d, double* e, double* tau, double* work,
             const int* lwork, int* info);
void dstedc_(const char* compz, const int* n, double* d, double* e, double* z, const int* ldz, double* work, const int* lwork,
             int* iwork, const int* liwork, int* info);
void dormtr_(const char* side, const char* uplo, const char* trans, const int* m, const int* n, const double* a, const int* lda,
             const double* tau, double* c, const int* ldc, double* work, const int* lwork, int* info);
void dgemm_(const char* trans_a, const char* trans_b, const int* m, const int* n, const int* k, const double* alpha,
            const double* a, const int* lda, const double* b, const int* ldb, const double* beta, double* c, const int* ldc);
}

namespace cambium {

namespace {

/// (x, y) <- (c x - s y, s x + c y).
void rotate_rows(int n, double* __restrict x, double* __restrict y, double c, double s) {
  for (int k = 0; k < n; ++k) {
    const double f = y[k], g = x[k];
    y[k] = s * g + c * f;
    x[k] = c * g - s * f;
  }
}

/// First m >= l after which the matrix splits.
int split_after(int l, int n, const double* d, const double* e) {
  int m = l;
  for (; m < n - 1; ++m) {
    const double scale = std::abs(d[m]) + std::abs(d[m + 1]);
    if (std::abs(e[m]) <= 2.3e-16 * scale) break;
  }
  return m;
}

/// One implicit QL step on rows l .. m; the rotations are applied to rows of `vectors`.
void ql_step(int n, int l, int m, double* d, double* e, double* vectors) {
  double g = (d[l + 1] - d[l]) / (2.0 * e[l]);
  double r = std::hypot(g, 1.0);
  g = d[m] - d[l] + e[l] / (g + std::copysign(r, g));
  double s = 1.0, c = 1.0, p = 0.0;
  for (int i = m - 1; i >= l; --i) {
    double f = s * e[i];
    const double b = c * e[i];
    r = std::sqrt(f * f + g * g);
    e[i + 1] = r;
    if (r == 0.0) {  // underflow: the matrix splits here
      d[i + 1] -= p;
      e[m] = 0.0;
      return;
    }
    s = f / r;
    c = g / r;
    g = d[i + 1] - p;
    r = (d[i] - g) * s + 2.0 * c * b;
    p = s * r;
    d[i + 1] = g + p;
    g = c * r - b;
    rotate_rows(n, vectors + static_cast<std::ptrdiff_t>(i) * n, vectors + static_cast<std::ptrdiff_t>(i + 1) * n, c, s);
  }
  d[l] -= p;
  e[l] = g;
  e[m] = 0.0;
}

constexpr int largest_for_ql = 160;

}  // namespace

bool tridiagonal_ql(int n, double* d, double* e, double* vectors) {
  std::fill_n(vectors, static_cast<std::ptrdiff_t>(n) * n, 0.0);
  for (int k = 0; k < n; ++k) vectors[static_cast<std::ptrdiff_t>(k) * n + k] = 1.0;
  e[n - 1] = 0.0;
  for (int l = 0; l < n; ++l) {
    for (int step = 0;; ++step) {
      const int m = split_after(l, n, d, e);
      if (m == l) break;
      if (step == 60) return false;
      ql_step(n, l, m, d, e, vectors);
    }
  }
  return true;
}

void SymmetricSpectrum::compute(double* a, int n, int lda, int first, int width) {
  a_ = a, n_ = n, lda_ = lda, width_ = width;
  reduce();
  // H^T E, n x width, column-major.
  std::vector<double> start(static_cast<std::size_t>(n * width), 0.0);
  for (int q = 0; q < width; ++q) start[static_cast<std::size_t>(q * n + first + q)] = 1.0;
  int info = 0;
  const int size = static_cast<int>(work_.size());
  dormtr_("L", "L", "T", &n_, &width_, a_, &lda_, tau_.data(), start.data(), &n_, work_.data(), &size, &info);
  diagonalise();
  component_.resize(start.size());
  // Rows of vectors_ are eigenvectors, so in BLAS's columns it is V: components (width x n there) = start^T V.
  const double one = 1.0, zero = 0.0;
  dgemm_("T", "N", &width_, &n_, &n_, &one, start.data(), &n_, vectors_.data(), &n_, &zero, component_.data(), &width_);
}

void SymmetricSpectrum::reduce() {
  const auto n = static_cast<std::size_t>(n_);
  value_.resize(n);
  off_.resize(n);
  tau_.resize(n);
  work_.resize(1 + 6 * n + 2 * n * n);
  const int size = static_cast<int>(work_.size());
  int info = 0;
  dsytrd_("L", &n_, a_, &lda_, value_.data(), off_.data(), tau_.data(), work_.data(), &size, &info);
  if (info != 0) throw InternalError("dsytrd: argument " + std::to_string(-info));
}

void SymmetricSpectrum::diagonalise() {
  vectors_.resize(static_cast<std::size_t>(n_) * static_cast<std::size_t>(n_));
  bool good = false;
  if (n_ <= largest_for_ql) {
    good = tridiagonal_ql(n_, value_.data(), off_.data(), vectors_.data());
  } else {
    integers_.resize(static_cast<std::size_t>(3 + 5 * n_));
    const int size = static_cast<int>(work_.size()), integers = static_cast<int>(integers_.size());
    int info = 0;
    dstedc_("I", &n_, value_.data(), off_.data(), vectors_.data(), &n_, work_.data(), &size, integers_.data(), &integers, &info);
    good = info == 0;
  }
  if (!good) throw NumericalError("an eigenvalue of a symmetric matrix of " + std::to_string(n_) + " rows did not converge; is an entry not finite?");
}

void SymmetricSpectrum::column(std::span<const double> f, double* out) const {
  std::vector<double> scaled(component_.size());
  for (std::size_t j = 0; j < value_.size(); ++j)
    for (std::size_t q = 0; q < static_cast<std::size_t>(width_); ++q)
      scaled[j * static_cast<std::size_t>(width_) + q] = f[j] * component_[j * static_cast<std::size_t>(width_) + q];
  const double one = 1.0, zero = 0.0;
  dgemm_("N", "T", &n_, &width_, &n_, &one, vectors_.data(), &n_, scaled.data(), &width_, &zero, out, &n_);
  std::vector<double> work(static_cast<std::size_t>(64 * (n_ + width_ + 64)));
  const int size = static_cast<int>(work.size());
  int info = 0;
  dormtr_("L", "L", "N", &n_, &width_, a_, &lda_, tau_.data(), out, &n_, work.data(), &size, &info);
}

}  // namespace cambium
