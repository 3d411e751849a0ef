#pragma once
#include <cstdint>

#include "core/parallel/comm.hpp"
#include "core/particles/particles.hpp"

namespace cambium {

/// Draws velocities of the owned atoms from the Maxwell-Boltzmann distribution at `temperature` (K), by tag: the same
/// for any number of ranks up to the rounding of sums. The drift of the centre of mass is removed and the rest scaled
/// so that sum m v^2 = (3 N - 3) k_B T exactly. Atoms of the groups in `frozen` get zero; if there are any, the total
/// momentum is not conserved anyway, so the drift is kept and the other N atoms have 3 N degrees of freedom.
void init_velocities(Particles& particles, const Comm& comm, double temperature, std::uint64_t seed,
                     std::uint32_t frozen = 0);

/// Takes the centre-of-mass velocity of all atoms off every atom.
void remove_drift(Particles& particles, const Comm& comm);

}  // namespace cambium
