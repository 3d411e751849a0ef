#pragma once
#include <cstdint>

#include "core/particles/given_axes.hpp"
#include "core/particles/neighbors.hpp"
#include "core/particles/particles.hpp"

namespace cambium::md {

/// The vector of an atom that is not finite.
enum class Unsound { position, force };

/// Throws NumericalError that names the first atom of this rank whose position or force is not finite, in the axes of
/// the atoms' file. `list` is used to check for a neighbour at the same position.
[[noreturn]] void report_bad_atom(const Particles& particles, const NeighborList& list, const GivenAxes& axes, int rank,
                                  std::int64_t step, Unsound what);

}  // namespace cambium::md
