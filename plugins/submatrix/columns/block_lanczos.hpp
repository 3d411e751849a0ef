#pragma once
#include <functional>
#include <vector>

#include "core/numerics/aligned_buffer.hpp"

namespace cambium::submatrix {

/// Block Lanczos with full reorthogonalisation from a block of unit vectors: A Q = Q T + remainder with T block
/// tridiagonal, so that f(A) E_1 is about Q f(T) E_1 (G. H. Golub and G. Meurant, Matrices, Moments and Quadrature,
/// 2010, chapter 6). Vanishing directions are deflated: blocks become narrower.
template <class T>
class BlockLanczos {
 public:
  /// `a`: n x n symmetric, row-major, rows of `ld` entries padded with zeros. Starts at columns first .. first+width-1.
  /// The matrix must outlive the calls of extend().
  void start(const T* a, int n, int ld, int first, int width);
  /// Y (width x n) = X A for rows of `ld` entries; the padding of Y must become zero.
  using Product = std::function<void(int width, const T* x, T* y)>;
  /// The same for a matrix that is known by its products only. `flops`: of one product with one row.
  void start(Product product, double flops, int n, int ld, int first, int width);
  /// Adds Krylov blocks until there are `blocks`, or the space is exhausted.
  void extend(int blocks);
  bool exhausted() const { return exhausted_; }

  int blocks() const { return blocks_; }
  int width() const { return width_; }
  /// Rows of the projected matrix, and those of its last block.
  int projected_rows() const { return first_[blocks_]; }
  int last_rows() const { return projected_rows() - first_[static_cast<std::size_t>(blocks_) - 1]; }
  /// Copies T, square, row-major, into `out`.
  void projected(double* out) const;
  /// out (width x padded n, row-major) = coefficients (width x projected_rows()) times the basis.
  void combine(const T* coefficients, T* out) const;
  double flops() const { return flops_; }

 private:
  void orthogonalise(T* w, int rows);
  void project_out(T* w, int rows, int from, int to, bool keep);
  int normalise(T* w, int rows, T* beta);
  void remove(const T* direction, T* row, T* component);
  bool purify(T* w, int rows, T* row);
  T* vector(int k) { return basis_.data() + static_cast<std::ptrdiff_t>(k) * ld_; }

  Product product_;
  double product_flops_ = 0.0;
  int n_ = 0, padded_n_ = 0, ld_ = 0, width_ = 0, blocks_ = 0, capacity_ = 0;
  std::vector<int> first_;  ///< vector of each block of the basis, the one to be multiplied next among them; their end
  bool exhausted_ = false;
  double flops_ = 0.0, scale_ = 0.0;
  AlignedBuffer<T> basis_;
  std::vector<T> alpha_, beta_;  ///< diagonal and sub-diagonal blocks of T, row-major, one after the other
  std::vector<T> overlaps_, transposed_;
};

}  // namespace cambium::submatrix
