#pragma once
#include <span>
#include <vector>

#include "core/base/pack.hpp"
#include "core/numerics/aligned_buffer.hpp"

namespace cambium {

/// All eigenvalues (ascending) and eigenvectors of the symmetric n x n matrix `a`, row-major, overwritten: row j
/// becomes eigenvector j (LAPACK dsyevd). NumericalError when it does not converge.
void symmetric_eigenvectors(int n, double* a, double* values);

/// A c = e B c for symmetric A and positive definite B, n x n with rows of `ld`, both overwritten: row j of `a` becomes
/// eigenvector j, with c^T B c = 1 (LAPACK dsygvd). False when B has no Cholesky factor, NumericalError when it does
/// not converge.
bool generalised_eigenvectors(int n, int ld, double* a, double* b, double* values);

/// Eigenvalues of a symmetric tridiagonal matrix T by implicit QL steps (Bowdler, Martin, Reinsch, Wilkinson, Numer.
/// Math. 11, 293 (1968)) with the rotations written down, so that eigenvectors are applied to a few columns, V or V^T,
/// and never formed: 12 n^2 bytes, and 6 n^2 operations for each register of columns. Host memory.
class TridiagonalEigen {
 public:
  /// Diagonal d (n, becomes the eigenvalues, not sorted), off-diagonal e (n - 1 entries and one spare, destroyed).
  /// False when an eigenvalue does not converge.
  bool compute(int n, double* d, double* e);
  /// Columns of panels: rows of `row_width` values.
  static constexpr int row_width = native_width<double>;
  /// x <- V^T x, row j the component along eigenvector j. x: n x row_width, row-major.
  void to_eigenvectors(double* x) const;
  /// x <- V x.
  void from_eigenvectors(double* x) const;

 private:
  struct Sweep {
    int low, high;      ///< rotations of rows (i, i + 1), i = high - 1 down to low
    std::size_t first;  ///< of its rotations
  };
  void step(int l, int m, double* d, double* e);

  std::vector<Sweep> sweeps_;
  std::vector<double> cosine_, sine_;
};

/// Eigenvalues of a symmetric matrix and a block column of any function of it, without ever forming eigenvectors:
/// A = H T H^T (Householder, LAPACK dsytrd), T = V diag(value) V^T, and for the unit columns E of the block
///   f(A) E = H V diag(f) V^T H^T E,
/// so the reflectors H and the rotations that make up V are applied to n x b matrices only. Host memory.
class SymmetricSpectrum {
 public:
  /// `a`: n x n, row-major with rows of `lda`, both triangles; overwritten and used by column(). Requested are the
  /// columns first .. first + width - 1. NumericalError if an eigenvalue does not converge.
  void compute(double* a, int n, int lda, int first, int width);

  std::span<const double> values() const { return value_; }
  /// Entry (j, q) is the component of requested column q along eigenvector j: n x width, row-major.
  std::span<const double> components() const { return component_; }
  /// Columns first .. of f(A), `f` given at the eigenvalues: width x n, row-major (column q of f(A) is row q).
  void column(std::span<const double> f, double* out);

 private:
  void reduce();
  void reflect(const char* transposed, double* columns);
  int slices() const { return (width_ + TridiagonalEigen::row_width - 1) / TridiagonalEigen::row_width; }
  void take_slice(int slice, const double* columns);
  void put_slice(int slice, double* columns) const;

  double* a_ = nullptr;
  int n_ = 0, lda_ = 0, width_ = 0;
  TridiagonalEigen tridiagonal_;
  std::vector<double> value_, off_, tau_, component_, columns_, work_;
  AlignedBuffer<double> panel_;  ///< n x row_width: one slice of the requested columns
};

}  // namespace cambium
