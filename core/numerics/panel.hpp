#pragma once
#include <cstddef>

namespace cambium {

/// Products of a few long rows (a panel: `rows` x n, row-major) with a matrix, for the shapes in which BLAS spends its
/// time packing. T is float or double. Row lengths (ld) are multiples of panel_width<T>() entries, base addresses are
/// aligned to it, entries between n and the next multiple are read and written too. Host memory.
template <class T>
int panel_width();
/// n rounded up to a multiple of the register width. A function call, since the width is that of the library's own
/// instruction set: never use it as the bound of a loop over entries.
template <class T>
int padded(int n) {
  return (n + panel_width<T>() - 1) / panel_width<T>() * panel_width<T>();
}

/// C (rows x n) = X (rows x k) A (k x n), or C -= X A with `subtract`. X may have any row length.
template <class T>
void panel_product(int rows, int n, int k, const T* x, std::ptrdiff_t ldx, const T* a, std::ptrdiff_t lda, T* c,
                   std::ptrdiff_t ldc, bool subtract = false);

/// G (k x rows) = P (k x n) W^T (n x rows), row-major with rows of `rows` entries. The padding must be zero in one of
/// them.
template <class T>
void panel_dots(int k, int rows, int n, const T* p, std::ptrdiff_t ldp, const T* w, std::ptrdiff_t ldw, T* g);

}  // namespace cambium
