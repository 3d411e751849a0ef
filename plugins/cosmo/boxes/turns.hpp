#pragma once
#include <array>
#include <cstdint>
#include <vector>

namespace cambium::cosmo {

/// Symmetry of a periodic cube: axes permuted, mirrored and shifted. The turned box is equally likely in every
/// cosmology.
struct Turn {
  std::array<std::int64_t, 3> axes{0, 1, 2};  ///< a permutation
  std::array<bool, 3> mirrored{};
  std::array<std::int64_t, 3> moved{};  ///< cells, 0 .. n - 1
};

/// Random turn of a sample in a training step: depends on the arguments only, the same on any number of ranks. n: cells
/// along an edge. Separate from the networks' code, which may not include the random number header (it includes
/// Kokkos).
Turn turn_of(std::uint64_t seed, std::int64_t sample, std::int64_t step, std::int64_t n);

/// Dropout factors of a layer of `width` outputs for a sample in a step: 0 with probability `share`, otherwise 1 / (1 -
/// share). Depends on the arguments only, for the same reasons.
std::vector<double> kept_answers(std::uint64_t seed, std::int64_t sample, std::int64_t step, std::size_t layer,
                                 std::int64_t width, double share);

}  // namespace cambium::cosmo
