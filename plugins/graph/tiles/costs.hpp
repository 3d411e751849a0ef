#pragma once
#include <cstdint>
#include <string>

namespace cambium::sparse {

/// Measured costs in seconds of the parts of a product of one width. They decide the form of each tile.
struct TileCosts {
  double entry = 0.0;         ///< an entry of the remaining rows
  double strip = 0.0;         ///< a column of a dense tile, for each four rows
  double bitmap_row = 0.0;    ///< a non-empty row of a bitmap tile
  double bitmap_entry = 0.0;  ///< each of its entries

  std::string text() const;  ///< in nanoseconds
};

/// Times the kernels on synthetic tiles, once per process for each T (double, float) and width; later calls return the
/// cached result.
template <class T>
const TileCosts& tile_costs(std::int64_t width);

}  // namespace cambium::sparse
