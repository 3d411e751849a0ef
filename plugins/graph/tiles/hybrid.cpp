#include "plugins/graph/tiles/hybrid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "core/base/counts.hpp"
#include "core/base/error.hpp"
#include "core/base/timing.hpp"
#include "core/sparse/product_amount.hpp"
#include "core/sparse/row_ranges.hpp"
#include "plugins/graph/tiles/tile_kernels.hpp"

namespace cambium::sparse {

namespace {

/// A tile of the width for rows and bitmap tiles, and its narrower parts for dense tiles.
struct PanelTile {
  WidthTile wide;
  std::vector<WidthTile> narrow;
};

std::vector<PanelTile> panel_tiles(int width, int w) {
  std::vector<PanelTile> out;
  for (const WidthTile& tile : width_tiles(width, w)) {
    out.push_back({tile, width_tiles(tile.last + w, w, strip_packs)});
    for (auto& t : out.back().narrow) t.first += tile.first;
  }
  return out;
}

/// Panel k in one tile of the width: remaining rows, then bitmap, then dense tiles.
template <class T, int W, bool Far>
void multiply_panel(const Split<T>& s, const RowProduct<T>& p, std::size_t k, const PanelTile& tile) {
  const Panel& panel = s.panels[k];
  with_packs(tile.wide.packs, [&]<int N>() {
    multiply_tiles<T, W, N, Far, false>(p, panel.first, panel.first + panel.rows, {&tile.wide, 1});
    add_bitmap<T, W, N>(s, k, p.h, p.out, tile.wide);
  });
  if (s.panels[k + 1].dense == panel.dense) return;
  for (const WidthTile& t : tile.narrow)
    with_packs(t.packs, [&]<int N>() {
      if constexpr (N <= strip_packs) add_dense<T, W, N>(s, k, p.h, p.out, t);
    });
}

/// Panels first..last - 1, panel by panel or one slice of the width after the other.
template <class T, int W, bool Far>
void multiply_panels(const Split<T>& s, const RowProduct<T>& p, std::size_t first, std::size_t last,
                     std::span<const PanelTile> tiles, bool slices) {
  if (slices) {
    for (const PanelTile& tile : tiles)
      for (std::size_t k = first; k < last; ++k) multiply_panel<T, W, Far>(s, p, k, tile);
  } else {
    for (std::size_t k = first; k < last; ++k)
      for (const PanelTile& tile : tiles) multiply_panel<T, W, Far>(s, p, k, tile);
  }
}

/// Entries before each panel, for the distribution of panels over threads.
template <class T>
std::vector<std::int64_t> work_before(const Split<T>& s, const Csr<T>& a) {
  std::vector<std::int64_t> out;
  for (const Panel& panel : s.panels) out.push_back(a.start[at(panel.first)]);
  return out;
}

template <class T>
void multiply_tiled(const Split<T>& s, const Csr<T>& a, Rows<const T> h, Rows<T> out, bool add, Walk walk) {
  const RowProduct<T> p(s.rows, h, out, add);
  with_lanes<T>(h.width, [&]<int W>() {
    const auto tiles = panel_tiles(static_cast<int>(h.width), W);
    for_row_ranges(work_before(s, a), [&](std::int64_t first, std::int64_t last) {
      const auto panels = walk.ahead ? multiply_panels<T, W, true> : multiply_panels<T, W, false>;
      panels(s, p, at(first), at(last), tiles, walk.slices);
    });
  });
}

/// Rows from the middle whose product takes about 10^8 multiplications, with the columns that they use, renumbered in
/// their order to preserve locality.
template <class T>
Csr<T> middle_piece(const Csr<T>& a, std::int64_t width) {
  const std::int64_t wanted = 100'000'000 / width;
  if (a.entries() <= wanted) return a;
  std::int64_t first = a.rows / 2, last = first;
  while (a.start[at(last)] - a.start[at(first)] < wanted && (first > 0 || last < a.rows)) {
    if (first > 0) --first;
    if (last < a.rows) ++last;
  }
  std::vector<std::int32_t> number(at(a.columns), 0);
  for (auto e = a.start[at(first)]; e < a.start[at(last)]; ++e) number[at(a.column[at(e)])] = 1;
  Csr<T> out;
  for (auto& n : number) out.columns += std::exchange(n, static_cast<std::int32_t>(out.columns));
  out.rows = last - first;
  for (std::int64_t i = first; i < last; ++i) {
    for (std::int32_t j : a.columns_of(i)) out.column.push_back(number[at(j)]);
    out.value.insert(out.value.end(), a.values_of(i).begin(), a.values_of(i).end());
    out.start.push_back(std::ssize(out.column));
  }
  return out;
}

/// Minimum times of two calls in seconds, run alternately.
template <class F, class G>
std::pair<double, double> paired(const F& f, const G& g) {
  double least_f = 1e300, least_g = 1e300;
  f();
  g();
  for (int turn = 0; turn < 5; ++turn) {
    const double a = wall_seconds();
    f();
    const double b = wall_seconds();
    g();
    least_f = std::min(least_f, b - a);
    least_g = std::min(least_g, wall_seconds() - b);
  }
  return {least_f, least_g};
}

/// The fastest traversal: row by row or in slices of the width, with or without prefetching; the default unless another
/// is clearly faster.
template <class T>
Walk fastest_walk(const Csr<T>& a, Rows<const T> h, Rows<T> out) {
  Walk best = usual_walk(a, h.width);
  const bool past = best.past_caches;
  for (Walk walk : {Walk{false, !best.ahead, past}, Walk{true, false, past}, Walk{true, true, past}}) {
    const auto [now, other] =
        paired([&] { sparse::multiply(a, h, out, false, best); }, [&] { sparse::multiply(a, h, out, false, walk); });
    if (other < 0.98 * now) best = walk;
  }
  return best;
}

}  // namespace

template <class T>
HybridMatrix<T>::HybridMatrix(Csr<T> a, std::int64_t width, TileUse use) : a_(std::move(a)) {
  if (width <= 0) throw InternalError("HybridMatrix: a width of no columns");
  if (use == TileUse::tiles) {
    split_ = split_into_tiles(a_, tile_costs<T>(width));
    tiled_ = true;
  } else {
    choose(width, use == TileUse::automatic);
  }
  if (!tiled_) {
    split_.count = {};
    split_.count.row_entries = a_.entries();
  }
}

template <class T>
HybridMatrix<T>::HybridMatrix(Csr<T> a, const TileCosts& costs)
    : a_(std::move(a)), split_(split_into_tiles(a_, costs)), tiled_(true), walk_{} {}

/// Times are measured on the middle rows of the matrix, to limit time and memory for a large one.
template <class T>
void HybridMatrix<T>::choose(std::int64_t width, bool tiles) {
  const Csr<T> piece = middle_piece(a_, width);
  std::vector<T> from(at(piece.columns * width), T(1)), to(at(piece.rows * width));
  const Rows<const T> h{from.data(), piece.columns, width, width};
  const Rows<T> out{to.data(), piece.rows, width, width};
  walk_ = fastest_walk(piece, h, out);
  walk_.past_caches = usual_walk(a_, width).past_caches;
  if (!tiles) return;
  // Row entries cost more than timed if their row of h is not in cache: several prices are tried.
  const TileCosts& costs = tile_costs<T>(width);
  double price_taken = 0.0;
  std::int64_t taken = 0;
  for (double price : {1.0, 1.5, 2.5}) {
    TileCosts scaled = costs;
    scaled.entry *= price;
    const auto split = split_into_tiles(piece, scaled);
    const std::int64_t in_tiles = split.count.dense_entries + split.count.bitmap_entries;
    if (in_tiles == taken) continue;
    taken = in_tiles;
    const auto [rows, tiled] = paired([&] { sparse::multiply(piece, h, out, false, walk_); },
                                      [&] { multiply_tiled(split, piece, h, out, false, walk_); });
    if (rows / tiled > std::max(gain_, 1.0)) price_taken = price;
    gain_ = std::max(gain_, rows / tiled);
  }
  if (price_taken == 0.0) return;
  TileCosts scaled = costs;
  scaled.entry *= price_taken;
  split_ = split_into_tiles(a_, scaled);
  tiled_ = true;
}

template <class T>
void HybridMatrix<T>::multiply(Rows<const T> h, Rows<T> out, bool add) const {
  if (!tiled_) return sparse::multiply(a_, h, out, add, walk_);
  if (h.rows != a_.columns || out.rows != a_.rows || h.width != out.width)
    throw InternalError(fmt::format("hybrid product: {} x {} times {} x {} into {} x {}", a_.rows, a_.columns, h.rows,
                                    h.width, out.rows, out.width));
  const KernelRegion region("sparse product: tiles", WorkKind::matrix, product_amount(a_, h.width));
  if (h.width > 0) multiply_tiled(split_, a_, h, out, add, walk_);
}

template <class T>
std::string HybridMatrix<T>::text() const {
  const TileCount& c = split_.count;
  const double all = static_cast<double>(std::max<std::int64_t>(1, a_.entries())) / 100.0;
  const auto share = [&](std::int64_t n) { return static_cast<double>(n) / all; };
  std::string out =
      fmt::format("dense tiles {:.0f} %, bitmap tiles {:.0f} %, rows {:.0f} % of {} entries; {} zeros filled in",
                  share(c.dense_entries), share(c.bitmap_entries), share(c.row_entries), a_.entries(), c.padded_zeros);
  if (gain_ > 0.0)
    out += tiled_ ? fmt::format("; {:.2f} times as fast as rows", gain_)
                  : fmt::format("; tiles would be {:.2f} times as fast as rows", gain_);
  return out;
}

template class HybridMatrix<double>;
template class HybridMatrix<float>;

}  // namespace cambium::sparse
