#pragma once
#include <span>

#include "core/sparse/csr.hpp"
#include "core/sparse/products.hpp"
#include "core/sparse/stream_store.hpp"
#include "core/sparse/width_tiles.hpp"

namespace cambium::sparse {

/// Operands of a product of rows.
template <class T>
struct RowProduct {
  const std::int64_t* start = nullptr;
  const std::int32_t* column = nullptr;
  const T* value = nullptr;
  std::int64_t last_entry = 0;  ///< the last entry that may be prefetched
  Rows<const T> h;
  Rows<T> out;
  bool add = false;

  RowProduct(const Csr<T>& a, Rows<const T> from, Rows<T> to, bool adds)
      : start(a.start.data()), column(a.column.data()), value(a.value.data()), last_entry(a.entries() - 1), h(from),
        out(to), add(adds) {}
};

/// Prefetch distance of rows of h in entries: some hundred nanoseconds of work.
constexpr std::int64_t entries_ahead = 12;

CAMBIUM_HF void fetch_ahead([[maybe_unused]] const void* first, [[maybe_unused]] int bytes) {
#if defined(__GNUC__) && !defined(CAMBIUM_SCALAR_PACKS_ONLY)
  for (int k = 0; k < bytes; k += 64) __builtin_prefetch(static_cast<const char*>(first) + k);
#endif
}

/// One row of a product in N packs of W columns from tile.first on. All N sums stay in registers while the entries of
/// the row pass in order. `Far`: rows of h that later entries need are fetched from far memory meanwhile. `Past`: the
/// result does not pass through the caches.
template <class T, int W, int N, bool Far, bool Past>
CAMBIUM_HF void multiply_row(const RowProduct<T>& p, std::int64_t i, WidthTile tile) {
  using L = Lanes<T, W>;
  using P = typename L::P;
  const T* const h = p.h.data + tile.first;
  T* const to = p.out.row(i) + tile.first;
  P sum[N];
  for (int n = 0; n < N; ++n) sum[n] = p.add ? L::load(to + (n < N - 1 ? n * W : tile.last)) : P(SumOf<T>(0));
  const std::int64_t end = p.start[i + 1];
  for (std::int64_t e = p.start[i]; e < end; ++e) {
    if constexpr (Far) {
      const std::int64_t later = e + entries_ahead < p.last_entry ? e + entries_ahead : p.last_entry;
      fetch_ahead(h + p.column[later] * p.h.stride, N * W * static_cast<int>(sizeof(T)));
    }
    const P a(static_cast<SumOf<T>>(p.value[e]));
    const T* const from = h + p.column[e] * p.h.stride;
    for (int n = 0; n < N - 1; ++n) sum[n] = fused(a, L::load(from + n * W), sum[n]);
    sum[N - 1] = fused(a, L::load(from + tile.last), sum[N - 1]);
  }
  for (int n = 0; n < N; ++n) {
    T* const place = to + (n < N - 1 ? n * W : tile.last);
    if constexpr (Past)
      store_past_caches<T, W>(place, sum[n]);
    else
      L::store(place, sum[n]);
  }
}

/// Rows first..last - 1 of a product, each in these tiles of N packs.
template <class T, int W, int N, bool Far, bool Past>
void multiply_tiles(const RowProduct<T>& p, std::int64_t first, std::int64_t last, std::span<const WidthTile> tiles) {
  for (std::int64_t i = first; i < last; ++i)
    for (const WidthTile& tile : tiles) multiply_row<T, W, N, Far, Past>(p, i, tile);
}

/// out[column] += value * h_i for rows first..last - 1: A^T h if `out` holds sums already. The packs of h_i stay in
/// registers; overlapping packs are loaded before any of them is stored.
template <class T, int W, int N>
void scatter_tile(const Csr<T>& a, Rows<const T> h, Rows<SumOf<T>> out, std::int64_t first, std::int64_t last,
                  WidthTile tile) {
  using L = Lanes<T, W>;
  using O = Lanes<SumOf<T>, W>;
  using P = typename L::P;
  for (std::int64_t i = first; i < last; ++i) {
    const T* const from = h.row(i) + tile.first;
    P x[N];
    for (int n = 0; n < N; ++n) x[n] = L::load(from + (n < N - 1 ? n * W : tile.last));
    const auto columns = a.columns_of(i);
    const auto values = a.values_of(i);
    for (std::size_t e = 0; e < columns.size(); ++e) {
      const P v(static_cast<SumOf<T>>(values[e]));
      SumOf<T>* const to = out.row(columns[e]) + tile.first;
      P sum[N];
      for (int n = 0; n < N; ++n) sum[n] = fused(v, x[n], O::load(to + (n < N - 1 ? n * W : tile.last)));
      for (int n = 0; n < N; ++n) O::store(to + (n < N - 1 ? n * W : tile.last), sum[n]);
    }
  }
}

/// u . v of `width` values: two running sums of packs, then the rest one by one. The order depends only on the width.
template <class T, int W>
CAMBIUM_HF SumOf<T> dot(const T* u, const T* v, std::int64_t width) {
  using L = Lanes<T, W>;
  using P = typename L::P;
  P even(SumOf<T>(0)), odd(SumOf<T>(0));
  std::int64_t k = 0;
  for (; k + 2 * W <= width; k += 2 * W) {
    even = fused(L::load(u + k), L::load(v + k), even);
    odd = fused(L::load(u + k + W), L::load(v + k + W), odd);
  }
  if (k + W <= width) {
    even = fused(L::load(u + k), L::load(v + k), even);
    k += W;
  }
  SumOf<T> out = sum(even + odd);
  for (; k < width; ++k) out = std::fma(static_cast<SumOf<T>>(u[k]), static_cast<SumOf<T>>(v[k]), out);
  return out;
}

}  // namespace cambium::sparse
