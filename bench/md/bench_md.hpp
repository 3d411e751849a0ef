#pragma once
#include "core/plugin/bench.hpp"

namespace cambium::md {

/// `cambium bench md`: atom-steps per second of the Lennard-Jones melt and of Stillinger-Weber silicon, and their ratio
/// to the `lmp` program, if installed, on the same number of ranks in the same call.
Bench bench_md();

}  // namespace cambium::md
