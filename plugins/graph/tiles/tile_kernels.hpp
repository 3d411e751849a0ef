#pragma once
#include <bit>

#include "core/sparse/row_kernels.hpp"
#include "plugins/graph/tiles/split.hpp"

namespace cambium::sparse {

/// Packs per strip of four rows: twelve sums, three packs of h and a value of A use all registers of AVX.
constexpr int strip_packs = 3;

/// Adds the dense tiles of panel p to its rows of `out`, in N packs from tile.first on. Sums of a strip stay in
/// registers for all its tiles.
template <class T, int W, int N>
void add_dense(const Split<T>& s, std::size_t p, Rows<const T> h, Rows<T> out, WidthTile tile) {
  using P = Pack<T, W>;
  const Panel& panel = s.panels[p];
  const DenseTile* const first = s.dense.data() + panel.dense;
  const DenseTile* const last = s.dense.data() + s.panels[p + 1].dense;
  for (int row = 0; row < panel.rows; row += strip_rows) {
    const int rows = std::min(strip_rows, panel.rows - row);
    P sum[strip_rows][N];
    for (int r = 0; r < strip_rows; ++r) {
      const T* const from = out.row(panel.first + row + std::min(r, rows - 1)) + tile.first;
      for (int n = 0; n < N; ++n) sum[r][n] = P::load(from + (n < N - 1 ? n * W : tile.last));
    }
    for (const DenseTile* t = first; t < last; ++t) {
      const T* value = s.dense_values.data() + t->values + std::int64_t{row} * t->columns;
      const T* from = h.row(t->column) + tile.first;
      for (int k = 0; k < t->columns; ++k, value += strip_rows, from += h.stride) {
        P x[N];
        for (int n = 0; n < N; ++n) x[n] = P::load(from + (n < N - 1 ? n * W : tile.last));
        for (int r = 0; r < strip_rows; ++r) {
          const P a(value[r]);
          for (int n = 0; n < N; ++n) sum[r][n] = fused(a, x[n], sum[r][n]);
        }
      }
    }
    for (int r = 0; r < strip_rows; ++r) {
      if (r >= rows) break;
      T* const to = out.row(panel.first + row + r) + tile.first;
      for (int n = 0; n < N; ++n) sum[r][n].store(to + (n < N - 1 ? n * W : tile.last));
    }
  }
}

/// Adds the bitmap tiles of panel p to its rows of `out`.
template <class T, int W, int N>
void add_bitmap(const Split<T>& s, std::size_t p, Rows<const T> h, Rows<T> out, WidthTile tile) {
  using P = Pack<T, W>;
  const Panel& panel = s.panels[p];
  for (std::int64_t b = panel.bitmap; b < s.panels[p + 1].bitmap; ++b) {
    const BitmapTile& bits = s.bitmap[b];
    const T* value = s.bitmap_values.data() + bits.values;
    const T* const block = h.row(bits.column) + tile.first;
    for (int r = 0; r < panel.rows; ++r) {
      unsigned mask = bits.mask[r];
      if (mask == 0) continue;
      T* const to = out.row(panel.first + r) + tile.first;
      P sum[N];
      for (int n = 0; n < N; ++n) sum[n] = P::load(to + (n < N - 1 ? n * W : tile.last));
      for (; mask != 0; mask &= mask - 1, ++value) {
        const T* const from = block + std::countr_zero(mask) * h.stride;
        const P a(*value);
        for (int n = 0; n < N - 1; ++n) sum[n] = fused(a, P::load(from + n * W), sum[n]);
        sum[N - 1] = fused(a, P::load(from + tile.last), sum[N - 1]);
      }
      for (int n = 0; n < N; ++n) sum[n].store(to + (n < N - 1 ? n * W : tile.last));
    }
  }
}

}  // namespace cambium::sparse
