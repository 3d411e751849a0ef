#include "core/sparse/products.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "core/base/counts.hpp"
#include "core/base/error.hpp"
#include "core/sparse/caches.hpp"
#include "core/sparse/product_amount.hpp"
#include "core/sparse/row_kernels.hpp"
#include "core/sparse/row_ranges.hpp"

namespace cambium::sparse {

namespace {

template <class T>
void check(const char* what, const Rows<T>& found, std::int64_t rows, std::int64_t width) {
  if (found.rows == rows && found.width == width && found.stride >= width) return;
  throw InternalError(fmt::format("sparse product: {} is {} x {} (stride {}), not {} x {}", what, found.rows,
                                  found.width, found.stride, rows, width));
}

/// Rows of h that pass between two uses of the same one, about: twice the mean distance of entries from the diagonal
/// of the matrix, by a sample.
template <class T>
std::int64_t reach(const Csr<T>& a) {
  constexpr std::int64_t samples = 256;
  const std::int64_t step = std::max<std::int64_t>(1, a.rows / samples);
  const double slope = static_cast<double>(a.columns) / static_cast<double>(std::max<std::int64_t>(1, a.rows));
  double sum = 0.0;
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < a.rows; i += step)
    if (const auto columns = a.columns_of(i); !columns.empty()) {
      const auto middle = static_cast<std::int64_t>(slope * static_cast<double>(i));
      for (std::size_t e : {std::size_t{0}, columns.size() / 2, columns.size() - 1})
        sum += static_cast<double>(std::abs(columns[e] - middle)), ++count;
    }
  return count == 0 ? 0 : static_cast<std::int64_t>(2.0 * sum / static_cast<double>(count));
}

/// Rows that pass through one group of tiles before the next group begins.
constexpr std::int64_t row_block = 64;

/// Rows first..last - 1 of a product. Tiles with the same number of packs are processed together, row by row, or
/// separately.
template <class T, int W, bool Far, bool Past>
void multiply_rows(const RowProduct<T>& p, std::span<const WidthTile> tiles, std::int64_t first, std::int64_t last,
                   bool slices) {
  const std::int64_t block = slices ? last - first : row_block;
  for (std::int64_t row = first; row < last; row += block)
    for (std::size_t t = 0, next = 0; t < tiles.size(); t = next) {
      for (next = t + 1; !slices && next < tiles.size() && tiles[next].packs == tiles[t].packs;) ++next;
      with_packs(tiles[t].packs, [&]<int N>() {
        multiply_tiles<T, W, N, Far, Past>(p, row, std::min(last, row + block), tiles.subspan(t, next - t));
      });
    }
}

}  // namespace

template <class T>
Walk usual_walk(const Csr<T>& a, std::int64_t width) {
  const auto row = width * static_cast<std::int64_t>(sizeof(T));
  return {false, std::min(a.columns, reach(a)) * row > cache_bytes(2), a.rows * row > cache_bytes(3)};
}

template <class T>
void multiply(const Csr<T>& a, std::type_identity_t<Rows<const T>> h, std::type_identity_t<Rows<T>> out, bool add) {
  multiply(a, h, out, add, usual_walk(a, h.width));
}

template <class T>
void multiply(const Csr<T>& a, std::type_identity_t<Rows<const T>> h, std::type_identity_t<Rows<T>> out, bool add,
              Walk walk) {
  check("the factor", h, a.columns, h.width);
  check("the product", out, a.rows, h.width);
  if (h.width == 0) return;
  const KernelRegion region("sparse product", WorkKind::matrix, product_amount(a, h.width));
  const RowProduct<T> p(a, h, out, add);
  const auto size = static_cast<std::int64_t>(sizeof(T));
  // Packs begin at multiples of 16 bytes if the width is a multiple of them; else the last overlaps the one before.
  const bool past = walk.past_caches && h.width * size % 64 == 0 && can_store_past_caches(out.data, out.stride * size);
  with_lanes<SumOf<T>>(h.width, [&]<int W>() {
    const auto tiles = width_tiles(static_cast<int>(h.width), W);
    for_row_ranges(a.start, [&](std::int64_t first, std::int64_t last) {
      const auto rows = past         ? multiply_rows<T, W, true, true>
                        : walk.ahead ? multiply_rows<T, W, true, false>
                                     : multiply_rows<T, W, false, false>;
      rows(p, tiles, first, last, walk.slices);
      if (past) finish_stores();
    });
  });
}

/// out += A^T h. Threads divide the width, so that no two add to the same number and the order of every sum stays.
template <class T>
static void scatter(const Csr<T>& a, Rows<const T> h, Rows<SumOf<T>> out) {
  with_lanes<SumOf<T>>(h.width, [&]<int W>() {
    const int threads = HostExec().concurrency(), packs = static_cast<int>((h.width + W - 1) / W);
    const int limit = std::clamp(packs / threads, 3, most_packs);
    const auto tiles = width_tiles(static_cast<int>(h.width), W, limit);
    const auto rows = [&](const WidthTile& tile, std::int64_t first, std::int64_t last) {
      with_packs(tile.packs, [&]<int N>() { scatter_tile<T, W, N>(a, h, out, first, last, tile); });
    };
    if (threads == 1) {
      for (std::int64_t row = 0; row < a.rows; ++row)
        for (const WidthTile& tile : tiles) rows(tile, row, row + 1);
      return;
    }
    using Tiles = Kokkos::RangePolicy<HostExec, Kokkos::Schedule<Kokkos::Dynamic>, Kokkos::IndexType<int>>;
    Kokkos::parallel_for("sparse_scatter", Tiles(0, static_cast<int>(tiles.size())),
                         [&](const int t) { rows(tiles[at(t)], 0, a.rows); });
    Kokkos::fence();
  });
}

template <class T>
void multiply_transposed(const Csr<T>& a, std::type_identity_t<Rows<const T>> h, std::type_identity_t<Rows<T>> out,
                         bool add) {
  check("the factor", h, a.rows, h.width);
  check("the product", out, a.columns, h.width);
  if (h.width == 0) return;
  const KernelRegion region("sparse product: transposed", WorkKind::matrix, product_amount(a, h.width));
  if constexpr (std::is_same_v<T, SumOf<T>>) {
    if (!add)
      for (std::int64_t j = 0; j < out.rows; ++j) std::fill_n(out.row(j), out.width, T(0));
    scatter<T>(a, h, out);
  } else {
    // Full-precision sums in addition to the output, which is rounded at the end.
    std::vector<SumOf<T>> sums(at(out.rows * out.width));
    const Rows<SumOf<T>> full{sums.data(), out.rows, out.width, out.width};
    if (add)
      for (std::int64_t j = 0; j < out.rows; ++j)
        std::transform(out.row(j), out.row(j) + out.width, full.row(j), [](T x) { return static_cast<SumOf<T>>(x); });
    scatter<T>(a, h, full);
    for (std::int64_t j = 0; j < out.rows; ++j)
      std::transform(full.row(j), full.row(j) + out.width, out.row(j), [](SumOf<T> x) { return static_cast<T>(x); });
  }
}

template <class T>
void sampled_products(const Csr<T>& pattern, std::type_identity_t<Rows<const T>> u,
                      std::type_identity_t<Rows<const T>> v, std::type_identity_t<std::span<T>> out) {
  check("the left factor", u, pattern.rows, u.width);
  check("the right factor", v, pattern.columns, u.width);
  if (std::ssize(out) != pattern.entries()) throw InternalError("sampled products: one value for each entry");
  const KernelRegion region("sampled products", WorkKind::matrix, product_amount(pattern, u.width));
  constexpr int w = native_width<SumOf<T>>;
  for_row_ranges(pattern.start, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i)
      for (std::int64_t e = pattern.start[at(i)]; e < pattern.start[at(i) + 1]; ++e)
        out[at(e)] = static_cast<T>(dot<T, w>(u.row(i), v.row(pattern.column[at(e)]), u.width));
  });
}

#define CAMBIUM_PRODUCTS(T)                                                       \
  template Walk usual_walk(const Csr<T>&, std::int64_t);                          \
  template void multiply(const Csr<T>&, Rows<const T>, Rows<T>, bool);            \
  template void multiply(const Csr<T>&, Rows<const T>, Rows<T>, bool, Walk);      \
  template void multiply_transposed(const Csr<T>&, Rows<const T>, Rows<T>, bool); \
  template void sampled_products(const Csr<T>&, Rows<const T>, Rows<const T>, std::span<T>);
CAMBIUM_PRODUCTS(double)
CAMBIUM_PRODUCTS(float)
CAMBIUM_PRODUCTS(Bf16)
#undef CAMBIUM_PRODUCTS

}  // namespace cambium::sparse
