#pragma once
#include <string>

#include "core/parallel/comm.hpp"
#include "core/particles/given_axes.hpp"
#include "core/particles/neighbors.hpp"

namespace cambium::md {

/// Collective. NumericalError that names two atoms at the same place, within 1e-6 Å, where there are any: no potential
/// has a force between them, and not every one gives a number that is noticed. Positions in the user's axes.
void refuse_twins(const Particles& particles, const NeighborList& list, const GivenAxes& axes, std::int64_t step,
                  const Comm& comm);

/// Collective. Names two atoms that are nearer than any bond, 0.5 Å, as where a structure is in nm; empty where there
/// are none.
std::string close_pair(const Particles& particles, const NeighborList& list, const Comm& comm);

/// Report, on this rank, about atom i (a row) and a listed neighbour at its place; empty where there is none.
std::string twin_text(int i, const Particles& particles, const NeighborList& list, const GivenAxes& axes,
                      std::int64_t step);

}  // namespace cambium::md
