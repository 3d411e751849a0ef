#pragma once
#include <cstdint>
#include <vector>

namespace cambium::cosmo {

/// `points` rows of `dimensions` values in (0, 1): along each dimension every one of `points` equal intervals holds one
/// row (M. McKay, R. Beckman and W. Conover, Technometrics 21, 239 (1979)). Depends on its arguments only.
std::vector<std::vector<double>> latin_hypercube(std::int64_t points, std::int64_t dimensions, std::uint64_t seed);

}  // namespace cambium::cosmo
