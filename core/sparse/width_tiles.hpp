#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/parallel/kokkos.hpp"
#include "core/sparse/lanes.hpp"

namespace cambium::sparse {

/// Packs of one row that a kernel keeps in registers: eight sums hide the latency of a fused multiply-add and leave
/// half of AVX's registers.
constexpr int most_packs = 8;

/// A piece of the width: `packs` packs from column `first` on, the last of which begins at `last` (counted from
/// `first`). If the width is not a multiple of the pack the last two overlap; both compute the same values there.
struct WidthTile {
  int first = 0, packs = 0, last = 0;
};

/// Packs narrower than a register serve widths below it.
template <class T, int W>
constexpr int narrower = W* static_cast<int>(sizeof(T)) >= 32 ? W / 2 : 1;

/// Calls f.operator()<W>() with the widest pack of Sum that is not wider than `width`.
template <class Sum, int W = native_width<Sum>, class F>
void with_lanes(std::int64_t width, F&& f) {
  if constexpr (W == 1) {
    f.template operator()<1>();
  } else {
    if (width >= W)
      f.template operator()<W>();
    else
      with_lanes<Sum, narrower<Sum, W>>(width, std::forward<F>(f));
  }
}

/// Tiles of packs of W that cover `width` >= W columns, as equal as possible, none with more than `limit` packs.
/// Overlapping packs are in one tile, so that a tile may add to its output.
inline std::vector<WidthTile> width_tiles(int width, int w, int limit = most_packs) {
  const int packs = (width + w - 1) / w, tiles = (packs + limit - 1) / limit;
  std::vector<WidthTile> out;
  for (int t = 0, first = 0; t < tiles; ++t) {
    const int count = packs / tiles + (t < packs % tiles ? 1 : 0);
    out.push_back({first * w, count, (count - 1) * w});
    first += count;
  }
  if (!out.empty()) out.back().last = width - w - out.back().first;
  return out;
}

/// f.operator()<N>() for N = packs, 1 to `most_packs`.
template <class F, std::size_t... N>
void with_packs(int packs, F&& f, std::index_sequence<N...>) {
  (void)((packs == static_cast<int>(N) + 1 && (f.template operator()<static_cast<int>(N) + 1>(), true)) || ...);
}
template <class F>
void with_packs(int packs, F&& f) {
  with_packs(packs, std::forward<F>(f), std::make_index_sequence<most_packs>());
}

}  // namespace cambium::sparse
