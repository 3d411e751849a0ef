#pragma once
#include <nlohmann/json.hpp>

#include "core/parallel/context.hpp"

namespace cambium::superres {

/// `cambium bench rayleigh_benard`: millions of cell-steps per second and core on 512 x 128 cells, and the time to reach
/// t = 10 at Ra 1e6 with the error of b against 1024 x 256 cells. Options: steps, repeat, accuracy (yes or no).
nlohmann::json bench_rayleigh_benard(const nlohmann::json& options, Context& context);

}  // namespace cambium::superres
