#pragma once
#include <complex>
#include <cstdint>
#include <functional>
#include <vector>

namespace cambium::podlstm {

/// A dense matrix in host memory, row-major, float64.
struct Matrix {
  std::int64_t rows = 0, cols = 0;
  std::vector<double> a;

  Matrix() = default;
  Matrix(std::int64_t m, std::int64_t n) : rows(m), cols(n), a(static_cast<std::size_t>(m * n), 0.0) {}
  double& operator()(std::int64_t i, std::int64_t j) { return a[i * cols + j]; }
  double operator()(std::int64_t i, std::int64_t j) const { return a[i * cols + j]; }
  double* row(std::int64_t i) { return a.data() + i * cols; }
  const double* row(std::int64_t i) const { return a.data() + i * cols; }
};

enum class Op { none, transposed };

/// C = op(A) op(B) + beta C for row-major arrays with row lengths ld*; op(A) is m x k, op(B) is k x n. Uses host_gemm()
/// of core/numerics: BLAS, with a part of C on each host thread.
void multiply(Op op_a, Op op_b, std::int64_t m, std::int64_t n, std::int64_t k, const double* a, std::int64_t lda,
              const double* b, std::int64_t ldb, double beta, double* c, std::int64_t ldc);
void multiply(Op op_a, Op op_b, std::int64_t m, std::int64_t n, std::int64_t k, const float* a, std::int64_t lda,
              const float* b, std::int64_t ldb, float beta, float* c, std::int64_t ldc);

/// op(A) op(B).
Matrix product(const Matrix& a, const Matrix& b, Op op_a = Op::none, Op op_b = Op::none);

/// Eigenvalues of a symmetric matrix in descending order and the eigenvectors as columns (LAPACK dsyevd).
struct Eigen {
  std::vector<double> values;
  Matrix vectors;
};
Eigen symmetric_eigen(Matrix a);

/// A = V diag(values) V^-1 of a general square matrix; V and its inverse row-major (dgeev, zgesv).
struct GeneralEigen {
  using Complex = std::complex<double>;
  std::vector<Complex> values, vectors, inverse;
  std::int64_t size() const { return std::ssize(values); }
  /// V diag(f(values)) V^-1, real if f maps conjugates to conjugates.
  Matrix of(const std::function<Complex(Complex)>& f) const;
};
/// NumericalError if the eigenvectors are linearly dependent.
GeneralEigen general_eigen(Matrix a);

/// Solves A X = B for a symmetric positive definite A (dposv). NumericalError if A is not.
Matrix solve_positive(Matrix a, Matrix b);

/// The X that minimises |A X - B|, of minimum norm if A is rank deficient (dgelsd).
Matrix least_squares(Matrix a, Matrix b);

/// The lower triangle L of A = L L^T (dpotrf). NumericalError if A is not positive definite.
Matrix cholesky(Matrix a);

/// L^-1 B for a lower triangle, in place (dtrsm).
void solve_lower(const Matrix& lower, double* b, std::int64_t columns);

/// An orthonormal basis of the columns of a tall matrix (dgeqrf, dorgqr).
Matrix orthonormal_columns(const Matrix& a);

}  // namespace cambium::podlstm
