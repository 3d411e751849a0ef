#pragma once
#include <optional>
#include <span>
#include <vector>

#include "core/deck/describe.hpp"

namespace cambium::pretrain {

struct AugmentAddress;
struct FieldShape;

/// A picture that is turned, stretched, slanted and bent a little is one of the same thing. No equation of motion is
/// known to agree: for pictures.
struct WarpKeys {
  double turn = 0.0;     ///< degrees to either side
  double stretch = 0.0;  ///< of each axis, as a share to either side
  double slant = 0.0;    ///< cells along one axis for a cell along the other, to either side
  double bend = 0.0;     ///< cells, deviation of a smooth displacement
  static void describe(deck::Describe<WarpKeys>& d);
};

/// A warped copy of a field over two axes, the size kept: values between cells are bilinear, beyond the edge stands the
/// edge. How far, within the keys, is addressed as everything random of a view.
std::vector<float> warped(std::span<const float> field, const FieldShape& shape, const WarpKeys& keys,
                          const AugmentAddress& address);

}  // namespace cambium::pretrain
