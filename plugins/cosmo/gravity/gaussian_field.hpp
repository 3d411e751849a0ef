#pragma once
#include <cstdint>

#include "plugins/cosmo/gravity/box_waves.hpp"
#include "plugins/cosmo/gravity/linear_power.hpp"

namespace cambium::cosmo {

/// Waves of a Gaussian random field with the linear power spectrum of today: a normal deviate for each cell, a function
/// of seed and cell, whose waves are multiplied by sqrt(P(k) n^3 / V). Two cosmologies of one seed have the same
/// phases.
void gaussian_field(const BoxWaves& box, const LinearPower& power, std::uint64_t seed, const View<double*>& waves);

}  // namespace cambium::cosmo
