#pragma once
#include <optional>
#include <span>
#include <vector>

#include "core/deck/describe.hpp"

namespace cambium::pretrain {

struct AugmentAddress;
struct FieldShape;

/// Small rotations, stretches, shears and bends of a picture, which keep its class. They are not symmetries of
/// equations of motion: for pictures only.
struct WarpKeys {
  double turn = 0.0;     ///< maximum rotation in degrees, either way
  double stretch = 0.0;  ///< maximum relative change of each axis, either way
  double slant = 0.0;    ///< maximum shear: cells along one axis per cell along the other, either way
  double bend = 0.0;     ///< standard deviation of a smooth displacement, in cells
  static void describe(deck::Describe<WarpKeys>& d);
};

/// A warped copy of a field over two axes, of the same size: bilinear interpolation, edge values beyond the edge. The
/// amounts, within the keys, are random numbers addressed like all others of a view.
std::vector<float> warped(std::span<const float> field, const FieldShape& shape, const WarpKeys& keys,
                          const AugmentAddress& address);

}  // namespace cambium::pretrain
