#include "core/numerics/panel.hpp"

#include "core/base/recorder.hpp"

#include <algorithm>

#include "core/base/pack.hpp"

namespace cambium {

namespace {

template <class T>
using Register = Pack<T, native_width<T>>;

/// R rows of X times V registers of columns of A: R * V running sums stay in registers.
template <class T, int R, int V>
void product_tile(int k, const T* x, std::ptrdiff_t ldx, const T* a, std::ptrdiff_t lda, T* c, std::ptrdiff_t ldc,
                  bool subtract) {
  constexpr int w = native_width<T>;
  Register<T> total[R][V];
  for (int r = 0; r < R; ++r)
    for (int v = 0; v < V; ++v) total[r][v] = Register<T>(T(0));
  for (int p = 0; p < k; ++p) {
    Register<T> row[V];
    for (int v = 0; v < V; ++v) row[v] = Register<T>::load(a + p * lda + v * w);
    for (int r = 0; r < R; ++r) {
      const Register<T> value(x[r * ldx + p]);
      for (int v = 0; v < V; ++v) total[r][v] = fma(value, row[v], total[r][v]);
    }
  }
  for (int r = 0; r < R; ++r)
    for (int v = 0; v < V; ++v) {
      T* out = c + r * ldc + v * w;
      if (subtract)
        (Register<T>::load(out) - total[r][v]).store(out);
      else
        total[r][v].store(out);
    }
}

template <class T, int R>
void product_rows(int n, int k, const T* x, std::ptrdiff_t ldx, const T* a, std::ptrdiff_t lda, T* c,
                  std::ptrdiff_t ldc, bool subtract) {
  constexpr int w = native_width<T>;
  int j = 0;
  for (; j + 4 * w <= n; j += 4 * w) product_tile<T, R, 4>(k, x, ldx, a + j, lda, c + j, ldc, subtract);
  for (; j + 2 * w <= n; j += 2 * w) product_tile<T, R, 2>(k, x, ldx, a + j, lda, c + j, ldc, subtract);
  for (; j < n; j += w) product_tile<T, R, 1>(k, x, ldx, a + j, lda, c + j, ldc, subtract);
}

/// R x S scalar products of long rows.
template <class T, int R, int S>
void dots_tile(int n, const T* p, std::ptrdiff_t ldp, const T* w, std::ptrdiff_t ldw, T* g, int ldg) {
  constexpr int width = native_width<T>;
  Register<T> total[R][S];
  for (int r = 0; r < R; ++r)
    for (int s = 0; s < S; ++s) total[r][s] = Register<T>(T(0));
  for (int j = 0; j < n; j += width) {
    Register<T> column[S];
    for (int s = 0; s < S; ++s) column[s] = Register<T>::load(w + s * ldw + j);
    for (int r = 0; r < R; ++r) {
      const Register<T> row = Register<T>::load(p + r * ldp + j);
      for (int s = 0; s < S; ++s) total[r][s] = fma(row, column[s], total[r][s]);
    }
  }
  for (int r = 0; r < R; ++r)
    for (int s = 0; s < S; ++s) g[r * ldg + s] = sum(total[r][s]);
}

template <class T, int S>
void dots_columns(int k, int n, const T* p, std::ptrdiff_t ldp, const T* w, std::ptrdiff_t ldw, T* g, int ldg) {
  int r = 0;
  for (; r + 3 <= k; r += 3) dots_tile<T, 3, S>(n, p + r * ldp, ldp, w, ldw, g + r * ldg, ldg);
  for (; r < k; ++r) dots_tile<T, 1, S>(n, p + r * ldp, ldp, w, ldw, g + r * ldg, ldg);
}

}  // namespace

template <class T>
int panel_width() {
  return native_width<T>;
}

template <class T>
void panel_product(int rows, int n, int k, const T* x, std::ptrdiff_t ldx, const T* a, std::ptrdiff_t lda, T* c,
                   std::ptrdiff_t ldc, bool subtract) {
  const KernelRegion region("panel product", WorkKind::matrix,
                            {2.0 * rows * static_cast<double>(n) * k, 0.0, static_cast<int>(sizeof(T))});
  const int columns = padded<T>(n);
  int r = 0;
  for (; r + 6 <= rows; r += 6) product_rows<T, 6>(columns, k, x + r * ldx, ldx, a, lda, c + r * ldc, ldc, subtract);
  for (; r + 4 <= rows; r += 4) product_rows<T, 4>(columns, k, x + r * ldx, ldx, a, lda, c + r * ldc, ldc, subtract);
  for (; r < rows; ++r) product_rows<T, 1>(columns, k, x + r * ldx, ldx, a, lda, c + r * ldc, ldc, subtract);
}

template <class T>
void panel_dots(int k, int rows, int n, const T* p, std::ptrdiff_t ldp, const T* w, std::ptrdiff_t ldw, T* g) {
  const KernelRegion region("panel dots", WorkKind::matrix,
                            {2.0 * rows * static_cast<double>(n) * k, 0.0, static_cast<int>(sizeof(T))});
  const int columns = padded<T>(n);
  int s = 0;
  for (; s + 6 <= rows; s += 6) dots_columns<T, 6>(k, columns, p, ldp, w + s * ldw, ldw, g + s, rows);
  for (; s + 4 <= rows; s += 4) dots_columns<T, 4>(k, columns, p, ldp, w + s * ldw, ldw, g + s, rows);
  for (; s < rows; ++s) dots_columns<T, 1>(k, columns, p, ldp, w + s * ldw, ldw, g + s, rows);
}

template int panel_width<float>();
template int panel_width<double>();
template void panel_product(int, int, int, const float*, std::ptrdiff_t, const float*, std::ptrdiff_t, float*,
                            std::ptrdiff_t, bool);
template void panel_product(int, int, int, const double*, std::ptrdiff_t, const double*, std::ptrdiff_t, double*,
                            std::ptrdiff_t, bool);
template void panel_dots(int, int, int, const float*, std::ptrdiff_t, const float*, std::ptrdiff_t, float*);
template void panel_dots(int, int, int, const double*, std::ptrdiff_t, const double*, std::ptrdiff_t, double*);

}  // namespace cambium
