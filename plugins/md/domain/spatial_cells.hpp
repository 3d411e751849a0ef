#pragma once
#include <algorithm>
#include <cmath>

#include "core/particles/box.hpp"

namespace cambium::md {

/// Cells for the sort of spatial_order(): about four atoms each between the fractional bounds `low` and `high`,
/// numbered with a fastest. Trivially copyable.
struct SpatialCells {
  static constexpr double atoms_per_cell = 4.0;
  int n[3];
  double low[3], scale[3];

  SpatialCells(const Box& box, const double lo[3], const double hi[3], int count) {
    const auto height = box.heights();
    double volume = box.volume();
    for (int d = 0; d < 3; ++d) volume *= hi[d] - lo[d];
    const double edge = std::cbrt(atoms_per_cell * volume / std::max(count, 1));
    for (int d = 0; d < 3; ++d) n[d] = std::clamp(static_cast<int>(height[d] * (hi[d] - lo[d]) / edge), 1, 1024);
    // A part much thinner than a cell's edge would otherwise have far more cells than atoms.
    while (total() > 16 * static_cast<std::int64_t>(count) + 65536) {
      int& most = *std::max_element(n, n + 3);
      most = (most + 1) / 2;
    }
    for (int d = 0; d < 3; ++d) {
      low[d] = lo[d];
      scale[d] = n[d] / (hi[d] - lo[d]);
    }
  }
  std::int64_t total() const { return std::int64_t{n[0]} * n[1] * n[2]; }
  KOKKOS_INLINE_FUNCTION int index(const double s[3]) const {
    int k[3];
    for (int d = 0; d < 3; ++d) {
      const double at = (s[d] - low[d]) * scale[d];
      k[d] = !(at > 0.0) ? 0 : at < n[d] ? static_cast<int>(at) : n[d] - 1;
    }
    return (k[2] * n[1] + k[1]) * n[0] + k[0];
  }
};

}  // namespace cambium::md
