#include "core/numerics/packed_gemm.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/recorder.hpp"
#include "core/numerics/gemm.hpp"
#include "core/numerics/width.hpp"

namespace cambium {

namespace {

template <class T>
using Lane = Pack<T, width_of<ExecSpace, T>>;

/// A register tile: `tile_rows` rows of A times one panel of B. 24 sums, three packs of B and one number of A fit the
/// 32 registers of AVX-512 and NEON, half of the rows the 16 of AVX.
constexpr int panel_packs = 3;
#if defined(__AVX512F__) || defined(__ARM_NEON)
constexpr int tile_rows = 8;
#else
constexpr int tile_rows = 4;
#endif
template <class T>
constexpr int panel_width = panel_packs* Lane<T>::width;

/// Rows of B per block, so that a panel of them (24 kB with AVX-512) stays in L1, and rows of A, so that they and their
/// part of C stay in L2.
constexpr int depth_limit = 400, row_limit = 64;

int equal_parts(int n, int limit) {
  const int parts = (n + limit - 1) / limit;
  return parts == 0 ? 1 : (n + parts - 1) / parts;
}

template <class T>
struct Tile {
  int depth = 0, width = 0;  ///< rows of B, columns of C
  const T* a = nullptr;
  std::ptrdiff_t lda = 0;
  const T* panel = nullptr;
  T* c = nullptr;
  std::ptrdiff_t ldc = 0;
  bool add = false;
};

/// Adds or writes the sums of a tile that has fewer columns than a panel.
template <class T, int Rows>
void finish_narrow(const Tile<T>& tile, const Lane<T> (&sums)[Rows][panel_packs]) {
  for (int r = 0; r < Rows; ++r) {
    T row[panel_width<T>];
    for (int p = 0; p < panel_packs; ++p) sums[r][p].store(row + p * Lane<T>::width);
    T* const out = tile.c + r * tile.ldc;
    for (int k = 0; k < tile.width; ++k) out[k] = tile.add ? out[k] + row[k] : row[k];
  }
}

/// Prefetches C before the sums are ready: a panel's rows are far apart, which hardware prefetchers do not follow.
template <class T, int Rows>
CAMBIUM_FN void prefetch_rows(const Tile<T>& tile) {
#if defined(__GNUC__)
  for (int r = 0; r < Rows; ++r)
    for (int k = 0; k < panel_width<T>; k += 64 / static_cast<int>(sizeof(T)))
      __builtin_prefetch(tile.c + r * tile.ldc + k, 1);
#endif
}

template <class T, int Rows>
void multiply_tile(const Tile<T>& tile) {
  prefetch_rows<T, Rows>(tile);
  Lane<T> sums[Rows][panel_packs];
  for (auto& row : sums)
    for (auto& sum : row) sum = Lane<T>(T(0));
  const T* b = tile.panel;
  for (int q = 0; q < tile.depth; ++q, b += panel_width<T>) {
    Lane<T> right[panel_packs];
    for (int p = 0; p < panel_packs; ++p) right[p] = Lane<T>::load(b + p * Lane<T>::width);
    for (int r = 0; r < Rows; ++r) {
      const Lane<T> left(tile.a[r * tile.lda + q]);
      for (int p = 0; p < panel_packs; ++p) sums[r][p] = fma(left, right[p], sums[r][p]);
    }
  }
  if (tile.width < panel_width<T>) {
    Lane<T> narrow[Rows][panel_packs];  // a copy, so that the sums themselves stay in registers
    for (int r = 0; r < Rows; ++r)
      for (int p = 0; p < panel_packs; ++p) narrow[r][p] = sums[r][p];
    finish_narrow<T, Rows>(tile, narrow);
    return;
  }
  for (int r = 0; r < Rows; ++r)
    for (int p = 0; p < panel_packs; ++p) {
      T* const out = tile.c + r * tile.ldc + p * Lane<T>::width;
      (tile.add ? Lane<T>::load(out) + sums[r][p] : sums[r][p]).store(out);
    }
}

/// multiply_tile() for every number of rows up to that of a full tile.
template <class T, std::size_t... Rows>
constexpr auto kernels_of(std::index_sequence<Rows...>) {
  return std::array<void (*)(const Tile<T>&), sizeof...(Rows)>{&multiply_tile<T, static_cast<int>(Rows) + 1>...};
}
template <class T>
constexpr auto tile_kernels = kernels_of<T>(std::make_index_sequence<tile_rows>());

/// Rows first..last of C, one block of the depth after the other.
template <class T>
void multiply_rows(int first, int last, int k, int n, const T* packed, const Tile<T>& whole) {
  const int step = equal_parts(k, depth_limit);
  Tile<T> tile = whole;
  for (int q = 0; q < k; q += step) {
    tile.depth = std::min(step, k - q);
    tile.add = whole.add || q > 0;
    for (int column = 0; column < n; column += panel_width<T>) {
      tile.panel = packed + (static_cast<std::ptrdiff_t>(column) * k + static_cast<std::ptrdiff_t>(q) * panel_width<T>);
      tile.width = n - column;
      for (int row = first; row < last; row += tile_rows) {
        tile.a = whole.a + row * whole.lda + q;
        tile.c = whole.c + row * whole.ldc + column;
        tile_kernels<T>[static_cast<std::size_t>(std::min(tile_rows, last - row) - 1)](tile);
      }
    }
  }
}

}  // namespace

template <class T>
PackedMatrix<T>::PackedMatrix(bool transpose, int k, int n, const T* b, int ldb) : k_(k), n_(n) {
  const int width = device_is_host ? panel_width<T> : n;
  const int panels = (n + width - 1) / std::max(width, 1);
  values_ = View<T*>("packed_matrix",
                     static_cast<std::size_t>(panels) * static_cast<std::size_t>(k) * static_cast<std::size_t>(width));
  auto host = Kokkos::create_mirror_view(values_);
  std::size_t out = 0;
  for (int first = 0; first < n; first += width)
    for (int q = 0; q < k; ++q)
      for (int c = first; c < first + width; ++c, ++out)
        if (c < n)
          host(out) =
              transpose ? b[static_cast<std::ptrdiff_t>(c) * ldb + q] : b[static_cast<std::ptrdiff_t>(q) * ldb + c];
  Kokkos::deep_copy(values_, host);
}

template <class T>
void PackedMatrix<T>::multiply(int m, const T* a, int lda, bool add, T* c, int ldc) const {
  if (m == 0 || n_ == 0) return;
  const double columns = n_, inner = k_, size = sizeof(T);
  const KernelRegion region(
      "packed_gemm", WorkKind::matrix,
      {2.0 * m * columns * inner, size * (m * inner + inner * columns + (add ? 2.0 : 1.0) * m * columns),
       static_cast<int>(sizeof(T))});
  if constexpr (!device_is_host) {
    gemm(false, m, n_, k_, a, lda, values_.data(), n_, add ? T(1) : T(0), c, ldc);
  } else {
    const int rows = (equal_parts(m, row_limit) + tile_rows - 1) / tile_rows * tile_rows, k = k_, n = n_;
    const T* const packed = values_.data();
    const Tile<T> whole{0, 0, a, lda, nullptr, c, ldc, add};
    using Blocks = Kokkos::RangePolicy<HostExec, Kokkos::IndexType<int>>;
    Kokkos::parallel_for("packed_gemm", Blocks(0, (m + rows - 1) / rows), [=](const int block) {
      multiply_rows(block * rows, std::min(m, (block + 1) * rows), k, n, packed, whole);
    });
  }
}

template class PackedMatrix<double>;
template class PackedMatrix<float>;

}  // namespace cambium
