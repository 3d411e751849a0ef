#pragma once
#include "core/plugin/bench.hpp"

namespace cambium::kinetic {

/// Full steps (distribution function with E and B, Maxwell's equations with the current, three Runge-Kutta stages) of
/// several configurations, in million cell-steps per second over all ranks, with the fraction of the memory and
/// arithmetic limits that they reach.
Bench bench_kinetic();

}  // namespace cambium::kinetic
