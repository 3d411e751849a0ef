#pragma once
#include <utility>

#include "core/base/pack.hpp"

namespace cambium {

namespace detail {

/// Entries of a and b interleaved, a's first: the lower halves of both, or the upper ones.
template <class T, bool Upper, std::size_t... I>
CAMBIUM_HF auto in_turns(Pack<T, static_cast<int>(sizeof...(I))> a, Pack<T, static_cast<int>(sizeof...(I))> b,
                         std::index_sequence<I...>) {
  constexpr std::size_t w = sizeof...(I), from = Upper ? w / 2 : 0;
#if defined(CAMBIUM_DEVICE_COMPILER)  // whose front end does not know shuffles
  T first[w], second[w], turned[w];
  a.store(first);
  b.store(second);
  for (std::size_t k = 0; k < w; ++k) turned[k] = (k % 2 ? second : first)[from + k / 2];
  return Pack<T, static_cast<int>(w)>::load(turned);
#else
  return Pack<T, static_cast<int>(w)>(__builtin_shufflevector(a.v, b.v, (from + I / 2 + (I % 2) * w)...));
#endif
}

}  // namespace detail

/// Transposes a square of registers: entry k of pack l becomes entry l of pack k. log2 W rounds of perfect shuffles.
template <class T, int W>
CAMBIUM_HF void transpose(Pack<T, W> (&x)[W]) {
  if constexpr (W > 1) {
    constexpr auto all = std::make_index_sequence<static_cast<std::size_t>(W)>{};
    for (int round = 1; round < W; round *= 2) {
      Pack<T, W> next[W];
      for (int k = 0; k < W / 2; ++k) {
        next[2 * k] = detail::in_turns<T, false>(x[k], x[k + W / 2], all);
        next[2 * k + 1] = detail::in_turns<T, true>(x[k], x[k + W / 2], all);
      }
      for (int k = 0; k < W; ++k) x[k] = next[k];
    }
  }
}

/// Rows into lanes: out[k W + l] = rows[l stride + k] for k < n and l < count <= W = native_width<T>, zeros in the
/// other lanes. A kernel then works on W rows at once, whatever their length.
template <class T>
inline void to_lanes(const T* rows, std::ptrdiff_t stride, int count, int n, T* out) {
  constexpr int w = native_width<T>;
  int k = 0;
  if (count == w)
    for (; k + w <= n; k += w) {
      Pack<T, w> tile[w];
      for (int l = 0; l < w; ++l) tile[l] = Pack<T, w>::load(rows + l * stride + k);
      transpose(tile);
      for (int l = 0; l < w; ++l) tile[l].store(out + (k + l) * w);
    }
  for (; k < n; ++k)
    for (int l = 0; l < w; ++l) out[k * w + l] = l < count ? rows[l * stride + k] : T(0);
}

/// Lanes back into rows: rows[l stride + k] = lanes[k W + l], or added to the existing values.
template <class T>
inline void from_lanes(const T* lanes, int count, int n, bool add, T* rows, std::ptrdiff_t stride) {
  constexpr int w = native_width<T>;
  int k = 0;
  if (count == w)
    for (; k + w <= n; k += w) {
      Pack<T, w> tile[w];
      for (int l = 0; l < w; ++l) tile[l] = Pack<T, w>::load(lanes + (k + l) * w);
      transpose(tile);
      for (int l = 0; l < w; ++l) {
        T* to = rows + l * stride + k;
        (add ? Pack<T, w>::load(to) + tile[l] : tile[l]).store(to);
      }
    }
  for (; k < n; ++k)
    for (int l = 0; l < count; ++l) rows[l * stride + k] = (add ? rows[l * stride + k] : T(0)) + lanes[k * w + l];
}

}  // namespace cambium
