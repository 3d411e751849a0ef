#include "plugins/graph/tiles/split.hpp"

#include <algorithm>
#include <bit>
#include <iterator>

#include "core/base/counts.hpp"

namespace cambium::sparse {

namespace {

/// An entry of a panel; sorted by column, then row.
struct Placed {
  std::int32_t column = 0, row = 0;  ///< row in the panel
  std::int64_t entry = 0;
  bool operator<(const Placed& o) const { return column != o.column ? column < o.column : row < o.row; }
};

/// Number of rows with an entry among [first, last) of a panel's.
int rows_used(const std::vector<Placed>& entries, std::size_t first, std::size_t last) {
  unsigned used = 0;
  for (std::size_t e = first; e < last; ++e) used |= 1u << entries[e].row;
  return std::popcount(used);
}

template <class T>
class Splitter {
 public:
  Splitter(const Csr<T>& a, const TileCosts& costs) : a_(a), costs_(costs), in_tile_(a.value.size(), 0) {}

  Split<T> split() {
    for (std::int64_t row = 0; row < a_.rows;) {
      const int rows = panel_rows(row);
      out_.panels.push_back({static_cast<std::int32_t>(row), rows, std::ssize(out_.dense), std::ssize(out_.bitmap)});
      take_tiles(row, rows);
      row += rows;
    }
    out_.panels.push_back({static_cast<std::int32_t>(a_.rows), 0, std::ssize(out_.dense), std::ssize(out_.bitmap)});
    keep_rest();
    out_.count.dense_tiles = std::ssize(out_.dense);
    out_.count.bitmap_tiles = std::ssize(out_.bitmap);
    out_.count.row_entries = out_.rows.entries();
    return std::move(out_);
  }

 private:
  int panel_rows(std::int64_t first) {
    known_.assign(a_.columns_of(first).begin(), a_.columns_of(first).end());
    int rows = 1;
    for (; rows < tile_rows && first + rows < a_.rows; ++rows) {
      const auto next = a_.columns_of(first + rows);
      const bool shared = std::any_of(next.begin(), next.end(), [&](std::int32_t j) {
        return std::binary_search(known_.begin(), known_.end(), j);
      });
      if (!shared && !next.empty() && !known_.empty()) break;
      merged_.clear();
      std::set_union(known_.begin(), known_.end(), next.begin(), next.end(), std::back_inserter(merged_));
      known_.swap(merged_);
    }
    return rows;
  }

  void take_tiles(std::int64_t first, int rows) {
    entries_.clear();
    for (int r = 0; r < rows; ++r)
      for (auto e = a_.start[at(first + r)]; e < a_.start[at(first + r) + 1]; ++e)
        entries_.push_back({a_.column[at(e)], r, e});
    std::sort(entries_.begin(), entries_.end());
    for (std::size_t from = 0, to = 0; from < entries_.size();) {
      while (to < entries_.size() && entries_[to].column < entries_[from].column + tile_columns) ++to;
      if (take_tile(from, to, rows)) {
        from = to;
      } else {
        const std::int32_t column = entries_[from].column;
        while (from < entries_.size() && entries_[from].column == column) ++from;
      }
    }
  }

  /// Creates a tile of the entries [from, to) if that costs less than leaving them in rows.
  bool take_tile(std::size_t from, std::size_t to, int rows) {
    const auto count = static_cast<double>(to - from);
    const int columns = entries_[to - 1].column - entries_[from].column + 1,
              strips = (rows + strip_rows - 1) / strip_rows;
    const double as_dense = costs_.strip * strips * columns,
                 as_bitmap = costs_.bitmap_row * rows_used(entries_, from, to) + costs_.bitmap_entry * count,
                 as_rows = costs_.entry * count;
    if (as_rows <= std::min(as_dense, as_bitmap)) return false;
    if (as_dense <= as_bitmap)
      add_dense(from, to, columns, strips);
    else
      add_bitmap(from, to);
    for (std::size_t e = from; e < to; ++e) in_tile_[at(entries_[e].entry)] = 1;
    return true;
  }

  void add_dense(std::size_t from, std::size_t to, int columns, int strips) {
    const std::int64_t values = std::ssize(out_.dense_values);
    const std::int32_t column = entries_[from].column;
    out_.dense.push_back({column, columns, values});
    out_.dense_values.resize(at(values + std::int64_t{strips} * columns * strip_rows), T(0));
    for (std::size_t e = from; e < to; ++e) {
      const Placed& p = entries_[e];
      const std::int64_t strip = p.row / strip_rows, place = (strip * columns + p.column - column) * strip_rows;
      out_.dense_values[at(values + place + p.row % strip_rows)] = a_.value[at(p.entry)];
    }
    const auto count = static_cast<std::int64_t>(to - from);
    out_.count.dense_entries += count;
    out_.count.padded_zeros += std::int64_t{strips} * columns * strip_rows - count;
  }

  void add_bitmap(std::size_t from, std::size_t to) {
    BitmapTile tile{entries_[from].column, std::ssize(out_.bitmap_values)};
    for (std::size_t e = from; e < to; ++e)
      tile.mask[entries_[e].row] =
          static_cast<std::uint16_t>(tile.mask[entries_[e].row] | (1u << (entries_[e].column - tile.column)));
    by_row_.assign(entries_.begin() + static_cast<std::ptrdiff_t>(from),
                   entries_.begin() + static_cast<std::ptrdiff_t>(to));
    std::stable_sort(by_row_.begin(), by_row_.end(), [](const Placed& a, const Placed& b) { return a.row < b.row; });
    for (const Placed& p : by_row_) out_.bitmap_values.push_back(a_.value[at(p.entry)]);
    out_.bitmap.push_back(tile);
    out_.count.bitmap_entries += static_cast<std::int64_t>(to - from);
  }

  void keep_rest() {
    auto& rest = out_.rows;
    rest.rows = a_.rows;
    rest.columns = a_.columns;
    for (std::int64_t i = 0; i < a_.rows; ++i) {
      for (auto e = a_.start[at(i)]; e < a_.start[at(i) + 1]; ++e)
        if (!in_tile_[at(e)]) rest.column.push_back(a_.column[at(e)]), rest.value.push_back(a_.value[at(e)]);
      rest.start.push_back(std::ssize(rest.column));
    }
  }

  const Csr<T>& a_;
  TileCosts costs_;
  std::vector<char> in_tile_;
  Split<T> out_;
  std::vector<Placed> entries_, by_row_;
  std::vector<std::int32_t> known_, merged_;
};

}  // namespace

template <class T>
Split<T> split_into_tiles(const Csr<T>& a, const TileCosts& costs) {
  return Splitter<T>(a, costs).split();
}

template Split<double> split_into_tiles(const Csr<double>&, const TileCosts&);
template Split<float> split_into_tiles(const Csr<float>&, const TileCosts&);

}  // namespace cambium::sparse
