#pragma once
#include "core/plugin/bench.hpp"

namespace cambium::submatrix {

/// `cambium bench submatrix`: seconds of the complete step from H and S to D, E, N and mu on water supercells by each
/// solver, with its error, compared with CP2K's own sign step in the same call.
Bench bench_submatrix();

}  // namespace cambium::submatrix
