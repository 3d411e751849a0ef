#pragma once

namespace cambium {

/// Inverts the vectors of a left-handed cell, which leaves the lattice and the order of the vectors unchanged; true if
/// it did.
inline bool make_right_handed(double rows[3][3]) {
  const double volume = rows[0][0] * (rows[1][1] * rows[2][2] - rows[1][2] * rows[2][1]) -
                        rows[0][1] * (rows[1][0] * rows[2][2] - rows[1][2] * rows[2][0]) +
                        rows[0][2] * (rows[1][0] * rows[2][1] - rows[1][1] * rows[2][0]);
  if (!(volume < 0.0)) return false;
  for (int k = 0; k < 9; ++k) rows[k / 3][k % 3] *= -1.0;
  return true;
}

}  // namespace cambium
