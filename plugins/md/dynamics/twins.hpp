#pragma once
#include <string>

#include "core/parallel/comm.hpp"
#include "core/particles/given_axes.hpp"
#include "core/particles/neighbors.hpp"

namespace cambium::md {

/// Collective. NumericalError naming two atoms at the same position (within 1e-6 Å), if any: no potential has a force
/// between them, and not all give a detectable NaN. Positions in the user's axes.
void refuse_twins(const Particles& particles, const NeighborList& list, const GivenAxes& axes, std::int64_t step,
                  const Comm& comm);

/// Collective. Names two atoms that are closer than any bond, 0.5 Å, as when a structure is in nm; empty if there are
/// none.
std::string close_pair(const Particles& particles, const NeighborList& list, const Comm& comm);

/// Message, on this rank, about atom i (a row) and a listed neighbour at its position; empty if there is none.
std::string twin_text(int i, const Particles& particles, const NeighborList& list, const GivenAxes& axes,
                      std::int64_t step);

}  // namespace cambium::md
