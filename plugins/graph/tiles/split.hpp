#pragma once
#include <cstdint>
#include <vector>

#include "core/sparse/csr.hpp"
#include "plugins/graph/tiles/costs.hpp"

namespace cambium::sparse {

/// Maximum rows and columns of a tile: sixteen rows of h fit in the L1 cache.
constexpr int tile_rows = 16, tile_columns = 16;
/// Rows of a dense tile that are multiplied at once; their number is padded with zero rows.
constexpr int strip_rows = 4;

/// Columns column..column + columns - 1 of a panel's rows, with all values stored: for each strip of four rows, for
/// each column, four values.
struct DenseTile {
  std::int32_t column = 0, columns = 0;
  std::int64_t values = 0;  ///< offset of the first one
};

/// The same with a bit mask of the entries; only these are stored, row by row.
struct BitmapTile {
  std::int32_t column = 0;
  std::int64_t values = 0;
  std::uint16_t mask[tile_rows] = {};  ///< bit k of row r: column + k
};

/// Up to `tile_rows` consecutive rows, and their tiles.
struct Panel {
  std::int32_t first = 0, rows = 0;
  std::int64_t dense = 0, bitmap = 0;  ///< first tiles; those of the next panel end them
};

/// Distribution of the entries, and the additional work.
struct TileCount {
  std::int64_t dense_entries = 0, bitmap_entries = 0, row_entries = 0;
  std::int64_t dense_tiles = 0, bitmap_tiles = 0;
  std::int64_t padded_zeros = 0;  ///< values of dense tiles that are not entries; times the width: wasted products
};

/// A = A_D + A_M + A_S: every entry of A is in one of the three.
template <class T>
struct Split {
  std::vector<Panel> panels;  ///< one more than there are, as end marker
  std::vector<DenseTile> dense;
  std::vector<BitmapTile> bitmap;
  std::vector<T> dense_values, bitmap_values;
  Csr<T> rows;  ///< remaining entries, with the shape of A
  TileCount count;
};

/// Panels end after `tile_rows` rows, or if the next row has no column in common with the previous ones (the blocks of
/// a block-diagonal matrix). In a panel, from left to right, up to `tile_columns` columns become a tile if that costs
/// less than their entries in rows. T: double, float.
template <class T>
Split<T> split_into_tiles(const Csr<T>& a, const TileCosts& costs);

}  // namespace cambium::sparse
