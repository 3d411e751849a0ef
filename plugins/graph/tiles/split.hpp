#pragma once
#include <cstdint>
#include <vector>

#include "core/sparse/csr.hpp"
#include "plugins/graph/tiles/costs.hpp"

namespace cambium::sparse {

/// Rows and columns of a tile, at most: sixteen rows of h lie in the first cache.
constexpr int tile_rows = 16, tile_columns = 16;
/// Rows of a dense tile that are multiplied at once; their number is filled up with zeros.
constexpr int strip_rows = 4;

/// Columns column..column + columns - 1 of a panel's rows, every number stored: for each strip of four rows, for each
/// column, four numbers.
struct DenseTile {
  std::int32_t column = 0, columns = 0;
  std::int64_t values = 0;  ///< where they begin
};

/// The same with a bit for each entry and only these stored, row by row.
struct BitmapTile {
  std::int32_t column = 0;
  std::int64_t values = 0;
  std::uint16_t mask[tile_rows] = {};  ///< bit k of row r: column + k
};

/// Up to `tile_rows` rows that follow each other, and their tiles.
struct Panel {
  std::int32_t first = 0, rows = 0;
  std::int64_t dense = 0, bitmap = 0;  ///< first tiles; the next panel's first end them
};

/// Outcome for the entries, and the work that was added.
struct TileCount {
  std::int64_t dense_entries = 0, bitmap_entries = 0, row_entries = 0;
  std::int64_t dense_tiles = 0, bitmap_tiles = 0;
  std::int64_t padded_zeros = 0;  ///< numbers of dense tiles that are no entries; times the width: products for nothing
};

/// A = A_D + A_M + A_S: every entry of A in one of the three.
template <class T>
struct Split {
  std::vector<Panel> panels;  ///< one more than there are, as an end
  std::vector<DenseTile> dense;
  std::vector<BitmapTile> bitmap;
  std::vector<T> dense_values, bitmap_values;
  Csr<T> rows;  ///< what is left, of A's shape
  TileCount count;
};

/// Panels end after `tile_rows` rows and where the next row has no column in common with those before it (the blocks of
/// a block-diagonal matrix). In a panel, from left to right, up to `tile_columns` columns become a tile where that
/// costs less than their entries in rows. T: double, float.
template <class T>
Split<T> split_into_tiles(const Csr<T>& a, const TileCosts& costs);

}  // namespace cambium::sparse
