#pragma once
#include <cstdint>
#include <string>

namespace cambium::sparse {

/// Seconds of the pieces of a product of one width. What a tile costs decides which form it takes.
struct TileCosts {
  double entry = 0.0;         ///< an entry of the remaining rows
  double strip = 0.0;         ///< a column of a dense tile, for each four rows
  double bitmap_row = 0.0;    ///< a row of a bitmap tile that holds anything
  double bitmap_entry = 0.0;  ///< and each of its entries

  std::string text() const;  ///< in nanoseconds
};

/// Times the kernels on made tiles, once in a process for each T (double, float) and width; later calls return what was
/// found.
template <class T>
const TileCosts& tile_costs(std::int64_t width);

}  // namespace cambium::sparse
