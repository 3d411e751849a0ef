#include "plugins/podlstm/pod/dense.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.hpp"
#include "core/numerics/gemm.hpp"

// The Fortran symbols are the same in every BLAS and LAPACK, which see a row-major matrix as its transpose.
extern "C" {
void dsyevd_(const char*, const char*, const int*, double*, const int*, double*, double*, const int*, int*, const int*,
             int*);
void dgeev_(const char*, const char*, const int*, double*, const int*, double*, double*, double*, const int*, double*,
            const int*, double*, const int*, int*);
void zgesv_(const int*, const int*, std::complex<double>*, const int*, int*, std::complex<double>*, const int*, int*);
void dposv_(const char*, const int*, const int*, double*, const int*, double*, const int*, int*);
void dpotrf_(const char*, const int*, double*, const int*, int*);
void dtrsm_(const char*, const char*, const char*, const char*, const int*, const int*, const double*, const double*,
            const int*, double*, const int*);
void dgelsd_(const int*, const int*, const int*, double*, const int*, double*, const int*, double*, const double*, int*,
             double*, const int*, int*, int*);
void dgeqrf_(const int*, const int*, double*, const int*, double*, double*, const int*, int*);
void dorgqr_(const int*, const int*, const int*, double*, const int*, const double*, double*, const int*, int*);
}

namespace cambium::podlstm {

namespace {

int narrow(std::int64_t n) { return static_cast<int>(n); }

Matrix transposed(const Matrix& a) {
  Matrix t(a.cols, a.rows);
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t j = 0; j < a.cols; ++j) t(j, i) = a(i, j);
  return t;
}

void require(int info, const char* routine) {
  if (info != 0) throw NumericalError(fmt::format("LAPACK's {} returned {}", routine, info));
}

}  // namespace

template <class T>
static void multiply_shared(Op op_a, Op op_b, std::int64_t m, std::int64_t n, std::int64_t k, const T* a,
                            std::int64_t lda, const T* b, std::int64_t ldb, T beta, T* c, std::int64_t ldc) {
  host_gemm<T>(op_a == Op::transposed, op_b == Op::transposed, narrow(m), narrow(n), narrow(k), T(1), a, narrow(lda), b,
               narrow(ldb), beta, c, narrow(ldc));
}

void multiply(Op op_a, Op op_b, std::int64_t m, std::int64_t n, std::int64_t k, const double* a, std::int64_t lda,
              const double* b, std::int64_t ldb, double beta, double* c, std::int64_t ldc) {
  multiply_shared(op_a, op_b, m, n, k, a, lda, b, ldb, beta, c, ldc);
}

void multiply(Op op_a, Op op_b, std::int64_t m, std::int64_t n, std::int64_t k, const float* a, std::int64_t lda,
              const float* b, std::int64_t ldb, float beta, float* c, std::int64_t ldc) {
  multiply_shared(op_a, op_b, m, n, k, a, lda, b, ldb, beta, c, ldc);
}

Matrix product(const Matrix& a, const Matrix& b, Op op_a, Op op_b) {
  const std::int64_t m = op_a == Op::none ? a.rows : a.cols, k = op_a == Op::none ? a.cols : a.rows;
  const std::int64_t n = op_b == Op::none ? b.cols : b.rows;
  if (k != (op_b == Op::none ? b.rows : b.cols)) throw InternalError("product of matrices that do not fit");
  Matrix c(m, n);
  multiply(op_a, op_b, m, n, k, a.a.data(), a.cols, b.a.data(), b.cols, 0.0, c.a.data(), c.cols);
  return c;
}

Eigen symmetric_eigen(Matrix a) {
  const int n = narrow(a.rows);
  std::vector<double> values(n);
  int info = 0, most = -1, most_integers = -1, integers_wanted = 0;
  double wanted = 0.0;
  dsyevd_("V", "U", &n, a.a.data(), &n, values.data(), &wanted, &most, &integers_wanted, &most_integers, &info);
  std::vector<double> work(wanted);
  std::vector<int> integers(integers_wanted);
  most = narrow(std::ssize(work));
  most_integers = narrow(std::ssize(integers));
  dsyevd_("V", "U", &n, a.a.data(), &n, values.data(), work.data(), &most, integers.data(), &most_integers, &info);
  require(info, "dsyevd");
  Eigen out{std::move(values), Matrix(n, n)};  // vectors are rows, in ascending order
  std::reverse(out.values.begin(), out.values.end());
  for (int k = 0; k < n; ++k)
    for (int i = 0; i < n; ++i) out.vectors(i, k) = a(n - 1 - k, i);
  return out;
}

GeneralEigen general_eigen(Matrix a) {
  const int n = narrow(a.rows), most = 8 * n, one = 1;
  const auto size = static_cast<std::size_t>(n);
  Matrix at = transposed(a), right(n, n);
  std::vector<double> re(size), im(size), work(static_cast<std::size_t>(most));
  double none = 0.0;
  int info = 0;
  dgeev_("N", "V", &n, at.a.data(), &n, re.data(), im.data(), &none, &one, right.a.data(), &n, work.data(), &most,
         &info);
  require(info, "dgeev");
  GeneralEigen out;
  out.vectors.resize(size * size);
  for (std::size_t k = 0; k < size; ++k) {
    out.values.emplace_back(re[k], im[k]);
    // A conjugate pair has its real part in one column, its imaginary part in the next.
    const std::size_t real = im[k] < 0.0 ? k - 1 : k;
    const double sign = im[k] == 0.0 ? 0.0 : im[k] < 0.0 ? -1.0 : 1.0;
    for (std::size_t i = 0; i < size; ++i)
      out.vectors[i * size + k] = {right.a[real * size + i], sign == 0.0 ? 0.0 : sign * right.a[(real + 1) * size + i]};
  }
  std::vector<GeneralEigen::Complex> columns(size * size), identity(size * size);
  for (std::size_t i = 0; i < size; ++i) {
    identity[i * size + i] = 1.0;
    for (std::size_t k = 0; k < size; ++k) columns[k * size + i] = out.vectors[i * size + k];
  }
  std::vector<int> pivots(size);
  zgesv_(&n, &n, columns.data(), &n, pivots.data(), identity.data(), &n, &info);
  require(info, "zgesv (the eigenvectors are linearly dependent)");
  out.inverse.resize(size * size);
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t k = 0; k < size; ++k) out.inverse[i * size + k] = identity[k * size + i];
  return out;
}

Matrix GeneralEigen::of(const std::function<Complex(Complex)>& f) const {
  const auto n = static_cast<std::size_t>(size());
  Matrix out(size(), size());
  for (std::size_t k = 0; k < n; ++k) {
    const Complex value = f(values[k]);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) out.a[i * n + j] += (vectors[i * n + k] * value * inverse[k * n + j]).real();
  }
  return out;
}

Matrix solve_positive(Matrix a, Matrix b) {
  Matrix x = transposed(b);
  const int n = narrow(a.rows), sides = narrow(b.cols);
  int info = 0;
  dposv_("U", &n, &sides, a.a.data(), &n, x.a.data(), &n, &info);
  require(info, "dposv (the matrix is not positive definite)");
  return transposed(x);
}

Matrix least_squares(Matrix a, Matrix b) {
  Matrix at = transposed(a), x(b.cols, std::max(a.rows, a.cols));
  for (std::int64_t i = 0; i < b.rows; ++i)
    for (std::int64_t j = 0; j < b.cols; ++j) x(j, i) = b(i, j);
  const int m = narrow(a.rows), n = narrow(a.cols), sides = narrow(b.cols), ld = narrow(x.cols);
  std::vector<double> singular(std::min(m, n));
  const double cutoff = -1.0;  // the machine's precision
  int rank = 0, info = 0, most = -1, integers_wanted = 0;
  double wanted = 0.0;
  dgelsd_(&m, &n, &sides, at.a.data(), &m, x.a.data(), &ld, singular.data(), &cutoff, &rank, &wanted, &most,
          &integers_wanted, &info);
  std::vector<double> work(wanted);
  std::vector<int> integers(std::max(1, integers_wanted));
  most = narrow(std::ssize(work));
  dgelsd_(&m, &n, &sides, at.a.data(), &m, x.a.data(), &ld, singular.data(), &cutoff, &rank, work.data(), &most,
          integers.data(), &info);
  require(info, "dgelsd");
  Matrix out(n, sides);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < sides; ++j) out(i, j) = x(j, i);
  return out;
}

Matrix cholesky(Matrix a) {
  const int n = narrow(a.rows);
  int info = 0;
  dpotrf_("U", &n, a.a.data(), &n, &info);
  require(info, "dpotrf (the matrix is not positive definite)");
  for (int i = 0; i < n; ++i)
    for (int j = i + 1; j < n; ++j) a(i, j) = 0.0;
  return a;
}

void solve_lower(const Matrix& lower, double* b, std::int64_t columns) {
  // LAPACK sees the row-major L X = B as X^T L^T = B^T, with our lower triangle as its upper one.
  const int n = narrow(lower.rows), m = narrow(columns);
  const double one = 1.0;
  if (m > 0) dtrsm_("R", "U", "N", "N", &m, &n, &one, lower.a.data(), &n, b, &m);
}

Matrix orthonormal_columns(const Matrix& a) {
  Matrix q = transposed(a);
  const int m = narrow(a.rows), n = narrow(a.cols);
  std::vector<double> tau(n), work(static_cast<std::size_t>(64 * n));
  const int most = narrow(std::ssize(work));
  int info = 0;
  dgeqrf_(&m, &n, q.a.data(), &m, tau.data(), work.data(), &most, &info);
  require(info, "dgeqrf");
  dorgqr_(&m, &n, &n, q.a.data(), &m, tau.data(), work.data(), &most, &info);
  require(info, "dorgqr");
  return transposed(q);
}

}  // namespace cambium::podlstm
