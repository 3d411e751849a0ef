#pragma once
#include <array>

#include "core/particles/box.hpp"

namespace cambium {

/// The axes in which a structure was given. Calculations rotate general cells into the lower-triangular form of Box;
/// this rotation is stored with the structure, and all output (files, tables, messages) is rotated back. Exact if there
/// is no rotation.
struct GivenAxes {
  double q[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};  ///< rotation of rows: x in Box's axes = x as given q

  GivenAxes() = default;
  explicit GivenAxes(const double rotation[3][3]);
  bool turned() const;
  /// A vector (position, velocity, force) or a row-major tensor of rank two (virial, pressure) from Box's axes to those
  /// given.
  std::array<double, 3> vector(const double here[3]) const;
  std::array<double, 9> tensor(const double here[9]) const;
  /// Rows a, b, c as they were given, to rounding: components below the rounding of a row's length are zero.
  std::array<double, 9> cell(const Box& box) const;
  /// A vector as given, in Box's axes.
  std::array<double, 3> inside(const double given[3]) const;
  /// The axes of a cell that was strained and rotated again by `rotation` (x new = x here rotation).
  GivenAxes then(const double rotation[3][3]) const;
};

}  // namespace cambium
