#include "plugins/graph/tiles/costs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>
#include <vector>

#include "core/base/timing.hpp"
#include "plugins/graph/tiles/hybrid.hpp"

namespace cambium::sparse {

namespace {

constexpr int panels = 32, columns = 4 * tile_columns;
constexpr double never = std::numeric_limits<double>::infinity();

/// Panels of sixteen rows, with `per_row` entries per row in sixteen neighbouring columns.
template <class T>
Csr<T> made_tiles(int per_row) {
  Csr<T> a;
  a.rows = panels * tile_rows;
  a.columns = columns;
  for (int i = 0; i < a.rows; ++i) {
    const auto first = static_cast<std::ptrdiff_t>(a.column.size());
    for (int k = 0; k < per_row; ++k) {
      a.column.push_back(i / tile_rows % 4 * tile_columns + (5 * i + 7 * k) % tile_columns);
      a.value.push_back(T(1));
    }
    std::sort(a.column.begin() + first, a.column.end());
    a.start.push_back(static_cast<std::int64_t>(a.column.size()));
  }
  return a;
}

/// Minimum time of a call in seconds, over several repetitions.
template <class F>
double seconds(const F& f) {
  double least = never;
  for (int turn = 0; turn < 7; ++turn) {
    const double start = wall_seconds();
    int calls = 0;
    while (calls < 4 || wall_seconds() - start < 2e-4) f(), ++calls;
    least = std::min(least, (wall_seconds() - start) / calls);
  }
  return least;
}

template <class T>
TileCosts timed(std::int64_t width) {
  std::vector<T> from(columns * width, T(1)), to(static_cast<std::size_t>(panels * tile_rows * width));
  const Rows<const T> h{from.data(), columns, width, width};
  const Rows<T> out{to.data(), panels * tile_rows, width, width};
  const auto product = [&](int per_row, const TileCosts& costs) {
    const HybridMatrix<T> a(made_tiles<T>(per_row), costs);
    return seconds([&] { a.multiply(h, out); });
  };
  constexpr int rows = panels * tile_rows, few = 4, many = 12;
  const TileCosts all_dense{never, 1.0, never, never}, all_bitmap{never, never, 1.0, 1.0};
  const Csr<T> plain = made_tiles<T>(many);
  const double sparse_few = product(few, all_bitmap), sparse_many = product(many, all_bitmap);
  TileCosts out_costs;
  out_costs.entry = seconds([&] { multiply(plain, h, out); }) / (many * rows);
  out_costs.strip = product(tile_columns, all_dense) / (rows / strip_rows * tile_columns);
  out_costs.bitmap_entry = std::max(0.0, sparse_many - sparse_few) / ((many - few) * rows);
  out_costs.bitmap_row = std::max(0.0, sparse_few / rows - few * out_costs.bitmap_entry);
  return out_costs;
}

}  // namespace

std::string TileCosts::text() const {
  return fmt::format(
      "an entry in rows {:.2f} ns, a column of a dense strip {:.2f} ns, in bitmap tiles a row {:.2f} ns "
      "and an entry {:.2f} ns",
      1e9 * entry, 1e9 * strip, 1e9 * bitmap_row, 1e9 * bitmap_entry);
}

template <class T>
const TileCosts& tile_costs(std::int64_t width) {
  static std::mutex mutex;
  static std::map<std::int64_t, TileCosts> known;
  const std::lock_guard lock(mutex);
  const auto found = known.find(width);
  return found != known.end() ? found->second : known.emplace(width, timed<T>(width)).first->second;
}

template const TileCosts& tile_costs<double>(std::int64_t);
template const TileCosts& tile_costs<float>(std::int64_t);

}  // namespace cambium::sparse
