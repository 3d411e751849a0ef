#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/base/pack.hpp"
#include "core/parallel/kokkos.hpp"

namespace cambium {

/// Host-side bins for the neighbour search: the bounding box of all particles is divided into columns along x (wide in
/// y and z); inside a column particles are ordered by narrow bins in x and keep their own order inside a bin. All
/// particles of a column between two values of x are thus one contiguous run of coordinates, and each column is padded
/// to full packs with particles that are far from everything, so a search reads full, aligned packs. Coordinates are
/// integers, multiples of `unit` about the middle of the box: their differences are exact and fit single precision, so
/// a search has as many lanes as there are floats in a register.
class CellColumns {
 public:
  static constexpr int lanes = native_width<float>;
  template <class T>
  using Array = Kokkos::View<T*, Kokkos::HostSpace>;  // aligned to cache lines, unlike a vector

  /// Bins rows 0..n-1 of `x` for searches of radius `range` (Å).
  void bin(const double* x, int n, double range);

  double lo[3], middle[3], inverse_width[3], width[3];
  double unit, inverse_unit;  ///< Å; at most a millionth of the range unless the box is wider than 10^3 ranges
  int cells[3];               ///< bins along x, columns along y and z
  Array<int> x, y, z;         ///< of the binned particles, column after column, columns on pack boundaries
  Array<int> id;              ///< row of each binned particle, -1 for filling
  std::vector<int> start;     ///< of bin (column, x bin) in the arrays above; cells[0] + 1 values per column

  const int* column(int cy, int cz) const { return &start[(cz * cells[1] + cy) * (cells[0] + 1)]; }
  /// Bin along direction k, clamped into the box; NaN goes to bin 0.
  int bin_of(double coordinate, int k) const {
    const double s = (coordinate - lo[k]) * inverse_width[k];
    return !(s > 0.0) ? 0 : s < cells[k] ? static_cast<int>(s) : cells[k] - 1;
  }
  // The range is at most half a box edge in units, `nowhere` is farther than that from all of the box, and no
  // difference overflows.
  static constexpr int half_box = 1 << 29, nowhere = (1 << 30) + (1 << 28);
  /// Coordinate in units; `nowhere` for NaN.
  int in_units(double coordinate, int k) const {
    const double q = (coordinate - middle[k]) * inverse_unit;
    return std::abs(q) <= half_box ? static_cast<int>(std::lrint(q)) : nowhere;
  }
  /// Distance along direction k between the interval [from, to] and bin `bin`, 0 if they overlap.
  double gap(double from, double to, int bin, int k) const {
    const double low = lo[k] + bin * width[k];
    return std::max(0.0, std::max(low - to, from - low - width[k]));
  }

 private:
  void size_bins(const double* x, int n, double range);
  void lay_out_columns(int chunks);
  std::vector<int> bin_of_particle_, counts_;
};

}  // namespace cambium
