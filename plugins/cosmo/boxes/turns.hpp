#pragma once
#include <array>
#include <cstdint>
#include <vector>

namespace cambium::cosmo {

/// A symmetry of a periodic cube: axes exchanged, mirrored and moved. No cosmology can tell a box from its turned one.
struct Turn {
  std::array<std::int64_t, 3> axes{0, 1, 2};  ///< a permutation
  std::array<bool, 3> mirrored{};
  std::array<std::int64_t, 3> moved{};  ///< cells, 0 .. n - 1
};

/// One for a sample in a step of training: a function of the arguments, the same on any number of ranks. n: cells along
/// an edge. Apart from the networks' code, which may not see the random numbers' header (it includes Kokkos).
Turn turn_of(std::uint64_t seed, std::int64_t sample, std::int64_t step, std::int64_t n);

/// Dropout of a layer of `width` answers for a sample in a step: 0 for a share of them, 1 / (1 - share) for others. A
/// function of the arguments, for the same reasons.
std::vector<double> kept_answers(std::uint64_t seed, std::int64_t sample, std::int64_t step, std::size_t layer,
                                 std::int64_t width, double share);

}  // namespace cambium::cosmo
