#pragma once
#include <array>
#include <cstdint>

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

}  // namespace cambium::cosmo
