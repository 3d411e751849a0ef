#pragma once
#include "plugins/kinetic/solver/solver.hpp"

namespace cambium::kinetic {

/// Particles per time that leave a slot's distribution function through the lower or upper wall of configuration
/// dimension d, if the wall absorbs them: the integral over the wall and over the velocities towards it of |v_d| f,
/// with f of the inner side. A stage takes the same flux from the cells, to rounding. Contribution of this rank.
double outflow(const Solver& solver, int slot, int d, bool high);

}  // namespace cambium::kinetic
