#include "core/numerics/symmetric_eigen.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/base/error.hpp"
#include "core/base/recorder.hpp"

extern "C" {
void dsytrd_(const char* uplo, const int* n, double* a, const int* lda, double* d, double* e, double* tau, double* work,
             const int* lwork, int* info);
void dsyevd_(const char* job, const char* uplo, const int* n, double* a, const int* lda, double* w, double* work,
             const int* lwork, int* iwork, const int* liwork, int* info);
void dsygvd_(const int* type, const char* job, const char* uplo, const int* n, double* a, const int* lda, double* b,
             const int* ldb, double* w, double* work, const int* lwork, int* iwork, const int* liwork, int* info);
void dormtr_(const char* side, const char* uplo, const char* trans, const int* m, const int* n, const double* a,
             const int* lda, const double* tau, double* c, const int* ldc, double* work, const int* lwork, int* info);
}

namespace cambium {

namespace {

using EigenRow = Pack<double, TridiagonalEigen::row_width>;

/// First m >= l after which the matrix splits.
int split_after(int l, int n, const double* d, const double* e) {
  int m = l;
  for (; m < n - 1; ++m) {
    const double scale = std::abs(d[m]) + std::abs(d[m + 1]);
    if (std::abs(e[m]) <= 2.3e-16 * scale) break;
  }
  return m;
}

}  // namespace

void symmetric_eigenvectors(int n, double* a, double* values) {
  const KernelRegion region("eigenvectors (dsyevd)", WorkKind::matrix);
  const auto m = static_cast<std::size_t>(n);
  std::vector<double> work(1 + 6 * m + 2 * m * m);
  std::vector<int> integers(3 + 5 * m);
  const int size = static_cast<int>(work.size()), count = static_cast<int>(integers.size());
  int info = 0;
  dsyevd_("V", "L", &n, a, &n, values, work.data(), &size, integers.data(), &count, &info);
  if (info != 0)
    throw NumericalError("the eigenvalues of a symmetric matrix of " + std::to_string(n) +
                         " rows did not converge; is an entry not finite?");
}

bool generalised_eigenvectors(int n, int ld, double* a, double* b, double* values) {
  const KernelRegion region("eigenvectors (dsygvd)", WorkKind::matrix);
  const auto m = static_cast<std::size_t>(n);
  std::vector<double> work(1 + 6 * m + 2 * m * m);
  std::vector<int> integers(3 + 5 * m);
  const int type = 1, size = static_cast<int>(work.size()), count = static_cast<int>(integers.size());
  int info = 0;
  dsygvd_(&type, "V", "L", &n, a, &ld, b, &ld, values, work.data(), &size, integers.data(), &count, &info);
  if (info > n) return false;
  if (info != 0)
    throw NumericalError("the eigenvalues of a symmetric matrix of " + std::to_string(n) +
                         " rows did not converge; is an entry not finite?");
  return true;
}

/// One implicit QL step on rows l .. m.
void TridiagonalEigen::step(int l, int m, double* d, double* e) {
  const auto first = cosine_.size();
  cosine_.resize(first + static_cast<std::size_t>(m - l));
  sine_.resize(cosine_.size());
  double *cosine = cosine_.data() + first, *sine = sine_.data() + first;
  double g = (d[l + 1] - d[l]) / (2.0 * e[l]);
  double r = std::sqrt(g * g + 1.0);
  g = d[m] - d[l] + e[l] / (g + std::copysign(r, g));
  double s = 1.0, c = 1.0, p = 0.0;
  int low = l;
  for (int i = m - 1; i >= l; --i) {
    const double f = s * e[i], b = c * e[i];
    r = std::sqrt(f * f + g * g);
    e[i + 1] = r;
    if (r == 0.0) {  // underflow: the matrix splits here
      d[i + 1] -= p;
      low = i + 1;
      break;
    }
    s = f / r;
    c = g / r;
    g = d[i + 1] - p;
    r = (d[i] - g) * s + 2.0 * c * b;
    p = s * r;
    d[i + 1] = g + p;
    g = c * r - b;
    *cosine++ = c;
    *sine++ = s;
  }
  if (low == l) {
    d[l] -= p;
    e[l] = g;
  }
  e[m] = 0.0;
  cosine_.resize(first + static_cast<std::size_t>(m - low));
  sine_.resize(cosine_.size());
  sweeps_.push_back({low, m, first});
}

bool TridiagonalEigen::compute(int n, double* d, double* e) {
  sweeps_.clear();
  cosine_.clear();
  sine_.clear();
  e[n - 1] = 0.0;
  for (int l = 0; l < n; ++l)
    for (int k = 0;; ++k) {
      const int m = split_after(l, n, d, e);
      if (m == l) break;
      if (k == 60) return false;
      step(l, m, d, e);
    }
  return true;
}

void TridiagonalEigen::to_eigenvectors(double* x) const {
  for (const Sweep& sweep : sweeps_) {
    const double *cosine = cosine_.data() + sweep.first, *sine = sine_.data() + sweep.first;
    EigenRow upper =
        EigenRow::load(x + static_cast<std::ptrdiff_t>(sweep.high) * row_width);  // of rows (i, i + 1) the latter
    for (int i = sweep.high - 1; i >= sweep.low; --i, ++cosine, ++sine) {
      double* row = x + static_cast<std::ptrdiff_t>(i) * row_width;
      const EigenRow lower = EigenRow::load(row), c(*cosine), s(*sine);
      fma(c, upper, s * lower).store(row + row_width);
      upper = fma(c, lower, -(s * upper));
    }
    upper.store(x + static_cast<std::ptrdiff_t>(sweep.low) * row_width);
  }
}

void TridiagonalEigen::from_eigenvectors(double* x) const {
  for (auto sweep = sweeps_.rbegin(); sweep != sweeps_.rend(); ++sweep) {
    const auto count = static_cast<std::size_t>(sweep->high - sweep->low);
    const double *cosine = cosine_.data() + sweep->first + count, *sine = sine_.data() + sweep->first + count;
    EigenRow lower = EigenRow::load(x + static_cast<std::ptrdiff_t>(sweep->low) * row_width);
    for (int i = sweep->low; i < sweep->high; ++i) {
      double* row = x + static_cast<std::ptrdiff_t>(i) * row_width;
      const EigenRow upper = EigenRow::load(row + row_width), c(*--cosine), s(*--sine);
      fma(c, lower, s * upper).store(row);
      lower = fma(c, upper, -(s * lower));
    }
    lower.store(x + static_cast<std::ptrdiff_t>(sweep->high) * row_width);
  }
}

void SymmetricSpectrum::compute(double* a, int n, int lda, int first, int width) {
  a_ = a;
  n_ = n;
  lda_ = lda;
  width_ = width;
  reduce();
  // H^T E, n x width, column-major.
  columns_.assign(n * width, 0.0);
  for (int q = 0; q < width_; ++q) columns_[q * n + first + q] = 1.0;
  reflect("T", columns_.data());
  const Region region("tridiagonal spectrum", WorkKind::elementwise);
  if (!tridiagonal_.compute(n_, value_.data(), off_.data()))
    throw NumericalError("an eigenvalue of a symmetric matrix of " + std::to_string(n_) +
                         " rows did not converge; is an entry not finite?");
  component_.resize(columns_.size());
  for (int slice = 0; slice < slices(); ++slice) {
    take_slice(slice, columns_.data());
    tridiagonal_.to_eigenvectors(panel_.data());
    put_slice(slice, columns_.data());
  }
  for (int q = 0; q < width_; ++q)
    for (int j = 0; j < n_; ++j) component_[j * width_ + q] = columns_[q * n_ + j];
}

void SymmetricSpectrum::reduce() {
  const double rows = n_;
  const KernelRegion region("tridiagonal form (dsytrd)", WorkKind::matrix, {4.0 / 3.0 * rows * rows * rows, 0.0, 8});
  const auto n = static_cast<std::size_t>(n_);
  value_.resize(n);
  off_.resize(n);
  tau_.resize(n);
  work_.resize(64 * (n + 64));
  panel_.reserve(n * static_cast<std::size_t>(TridiagonalEigen::row_width));
  const int size = static_cast<int>(work_.size());
  int info = 0;
  dsytrd_("L", &n_, a_, &lda_, value_.data(), off_.data(), tau_.data(), work_.data(), &size, &info);
  if (info != 0) throw InternalError("dsytrd: argument " + std::to_string(-info));
}

/// columns <- H columns or H^T columns, n x width, column-major.
void SymmetricSpectrum::reflect(const char* transposed, double* columns) {
  const double rows = n_;
  const KernelRegion region("reflectors (dormtr)", WorkKind::matrix, {2.0 * rows * rows * width_, 0.0, 8});
  work_.resize(std::max(work_.size(), static_cast<std::size_t>(64 * (n_ + width_ + 64))));
  const int size = static_cast<int>(work_.size());
  int info = 0;
  dormtr_("L", "L", transposed, &n_, &width_, a_, &lda_, tau_.data(), columns, &n_, work_.data(), &size, &info);
}

/// Columns of a slice as rows of the panel; zero beyond the last column.
void SymmetricSpectrum::take_slice(int slice, const double* columns) {
  constexpr int w = TridiagonalEigen::row_width;
  for (int j = 0; j < n_; ++j)
    for (int k = 0; k < w; ++k) {
      const int q = slice * w + k;
      panel_[j * w + k] = q < width_ ? columns[static_cast<std::ptrdiff_t>(q) * n_ + j] : 0.0;
    }
}

void SymmetricSpectrum::put_slice(int slice, double* columns) const {
  constexpr int w = TridiagonalEigen::row_width;
  for (int k = 0; k < w && slice * w + k < width_; ++k)
    for (int j = 0; j < n_; ++j) columns[static_cast<std::ptrdiff_t>(slice * w + k) * n_ + j] = panel_[j * w + k];
}

void SymmetricSpectrum::column(std::span<const double> f, double* out) {
  for (int q = 0; q < width_; ++q)
    for (int j = 0; j < n_; ++j) out[static_cast<std::ptrdiff_t>(q) * n_ + j] = f[j] * component_[j * width_ + q];
  for (int slice = 0; slice < slices(); ++slice) {
    take_slice(slice, out);
    tridiagonal_.from_eigenvectors(panel_.data());
    put_slice(slice, out);
  }
  reflect("N", out);
}

}  // namespace cambium
