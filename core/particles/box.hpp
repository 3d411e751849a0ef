#pragma once
#include <array>
#include <string>

#include "core/parallel/kokkos.hpp"

namespace cambium {

/// Periodic cell, orthogonal or triclinic, in the lower-triangular form a = (ax,0,0), b = (bx,by,0), c = (cx,cy,cz)
/// (Å). Its origin is the corner of smallest fractional coordinates. Trivially copyable: kernels take it by value.
struct Box {
  double h[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};  ///< rows are the cell vectors a, b, c
  double origin[3] = {0, 0, 0};

  /// Any right-handed cell vectors (rows), rotated into the lower-triangular form. `rotation` (optional, 3x3 row-major)
  /// receives Q with x_new = x_old Q. Throws InputError for a left-handed or flat cell.
  static Box from_vectors(const double rows[3][3], double rotation[3][3] = nullptr);
  static Box orthogonal(double lx, double ly, double lz);

  bool is_triclinic() const { return h[1][0] != 0.0 || h[2][0] != 0.0 || h[2][1] != 0.0; }

  KOKKOS_INLINE_FUNCTION double volume() const { return h[0][0] * h[1][1] * h[2][2]; }

  /// Cartesian to fractional, s in [0,1) inside the cell.
  KOKKOS_INLINE_FUNCTION void to_fractional(const double x[3], double s[3]) const {
    const double dx = x[0] - origin[0], dy = x[1] - origin[1], dz = x[2] - origin[2];
    s[2] = dz / h[2][2];
    s[1] = (dy - s[2] * h[2][1]) / h[1][1];
    s[0] = (dx - s[1] * h[1][0] - s[2] * h[2][0]) / h[0][0];
  }

  KOKKOS_INLINE_FUNCTION void to_cartesian(const double s[3], double x[3]) const {
    x[0] = origin[0] + s[0] * h[0][0] + s[1] * h[1][0] + s[2] * h[2][0];
    x[1] = origin[1] + s[1] * h[1][1] + s[2] * h[2][1];
    x[2] = origin[2] + s[2] * h[2][2];
  }

  /// Distance between opposite faces, per direction (Å); limits the cut-off.
  std::array<double, 3> heights() const;
};

}  // namespace cambium
