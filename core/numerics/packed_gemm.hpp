#pragma once
#include <cstddef>

#include "core/parallel/kokkos.hpp"

namespace cambium {

/// A matrix B laid out once for many products C = A B, as the weights of a network are. BLAS copies B into such a
/// layout in every call, which for some hundred rows of A is a tenth of the time and more. On host back ends the layout
/// is that of the kernel's register tiles (after K. Goto and R. A. van de Geijn, ACM Trans. Math. Softw. 34, 12 (2008),
/// without the copy of A: its rows are read where they are); elsewhere it is B itself.
template <class T>
class PackedMatrix {
 public:
  PackedMatrix() = default;
  /// op(B) is k x n, stored n x k when `transpose`; `b` is host memory with rows of `ldb` elements.
  PackedMatrix(bool transpose, int k, int n, const T* b, int ldb);

  /// C = A op(B), or C += A op(B) when `add`: A is m x k, C is m x n, both row-major in the memory of the kernels with
  /// rows of lda and ldc elements. Nothing outside of the m x n elements of C is written.
  void multiply(int m, const T* a, int lda, bool add, T* c, int ldc) const;

  int rows() const { return k_; }
  int columns() const { return n_; }
  std::size_t bytes() const { return values_.size() * sizeof(T); }

 private:
  int k_ = 0, n_ = 0;
  View<T*> values_;  ///< host: [panel][k][panel width], the last panel filled up with zeros
};

}  // namespace cambium
