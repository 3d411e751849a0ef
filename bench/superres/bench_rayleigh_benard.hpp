#pragma once
#include "core/plugin/bench.hpp"

namespace cambium::superres {

/// `cambium bench rayleigh_benard`: millions of cell-steps per second and core on 512 x 128 cells, and the time to
/// reach t = 10 at Ra 1e6 with the error of b against 1024 x 256 cells.
Bench bench_rayleigh_benard();

/// `cambium bench rayleigh_benard_3d`: the same rate on 64 x 64 x 64 cells.
Bench bench_rayleigh_benard_3d();

}  // namespace cambium::superres
