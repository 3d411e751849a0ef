#pragma once
#include "plugins/kinetic/solver/solver.hpp"

namespace cambium::kinetic {

/// Particles per time that leave a slot's distribution function through the lower or upper wall of configuration
/// dimension d, where the wall absorbs them: the integral over the wall and over the velocities towards it of |v_d| f,
/// f as it is on the inner side. That is the flux which a stage takes from the cells, to rounding. This rank's share.
double outflow(const Solver& solver, int slot, int d, bool high);

}  // namespace cambium::kinetic
