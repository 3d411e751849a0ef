#pragma once
#include <cstdint>

#include "core/particles/given_axes.hpp"
#include "core/particles/neighbors.hpp"
#include "core/particles/particles.hpp"

namespace cambium::md {

/// Which of an atom's vectors is not finite.
enum class Unsound { position, force };

/// Throws NumericalError that names the first atom of this rank whose position or force is not finite, in the axes of
/// the file that the atoms came from. `list` tells whether a neighbour lies at the same place.
[[noreturn]] void report_bad_atom(const Particles& particles, const NeighborList& list, const GivenAxes& axes, int rank,
                                  std::int64_t step, Unsound what);

}  // namespace cambium::md
