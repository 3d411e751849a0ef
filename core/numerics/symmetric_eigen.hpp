#pragma once
#include <span>
#include <vector>

namespace cambium {

/// Eigenvalues of a symmetric matrix and a block column of any function of it, without ever forming eigenvectors of the
/// full matrix: A = H T H^T (Householder, LAPACK dsytrd), T = V diag(value) V^T, and for the unit columns E of the block
///   f(A) E = H V diag(f) V^T H^T E,
/// so only n x b matrices are multiplied by the reflectors H. Host memory.
class SymmetricSpectrum {
 public:
  /// `a`: n x n, row-major with rows of `lda`, both triangles; overwritten and used by column(). Columns first ..
  /// first + width - 1 are those wanted. NumericalError when an eigenvalue does not converge.
  void compute(double* a, int n, int lda, int first, int width);

  std::span<const double> values() const { return value_; }
  /// Entry (j, q) is the component of wanted column q along eigenvector j: n x width, row-major.
  std::span<const double> components() const { return component_; }
  /// Columns first .. of f(A), `f` given at the eigenvalues: width x n, row-major (column q of f(A) is row q).
  void column(std::span<const double> f, double* out) const;

 private:
  void reduce();
  void diagonalise();

  double* a_ = nullptr;
  int n_ = 0, lda_ = 0, width_ = 0;
  std::vector<double> value_, off_, tau_, vectors_, component_, work_;
  std::vector<int> integers_;
};

/// Eigenvalues (d, overwritten) and eigenvectors of the symmetric tridiagonal matrix with diagonal d and off-diagonal e
/// (n - 1 entries and one spare, destroyed) by implicit QL steps; row j of `vectors` (n x n, row-major) is eigenvector j.
/// Not sorted. Faster than divide and conquer up to n of about 150, because rows are rotated whole. False when it does
/// not converge. Source: Bowdler, Martin, Reinsch, Wilkinson, Numer. Math. 11, 293 (1968).
bool tridiagonal_ql(int n, double* d, double* e, double* vectors);

}  // namespace cambium
