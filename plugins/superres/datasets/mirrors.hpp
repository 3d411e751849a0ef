#pragma once
#include <cstdint>

namespace cambium::superres {

/// A symmetry of convection between plates that a training shows an image under: moved along a periodic x, x reversed,
/// and warm and cold exchanged together with above and below.
struct Mirror {
  std::int64_t moved = 0;  ///< points along x
  bool x = false, z = false;
};

/// For one sample in one step; a function of its arguments. `points`: along x.
Mirror mirror_of(std::uint64_t seed, std::int64_t sample, std::int64_t step, std::int64_t points);

}  // namespace cambium::superres
