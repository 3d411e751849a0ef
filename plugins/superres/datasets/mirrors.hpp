#pragma once
#include <cstdint>

namespace cambium::superres {

/// Symmetry of convection between plates, for data augmentation in training: shift along a periodic x, reversal of x,
/// and simultaneous exchange of warm with cold and above with below.
struct Mirror {
  std::int64_t moved = 0;  ///< points along x
  bool x = false, z = false;
};

/// Symmetry for one sample in one step; a function of its arguments. `points`: along x.
Mirror mirror_of(std::uint64_t seed, std::int64_t sample, std::int64_t step, std::int64_t points);

}  // namespace cambium::superres
