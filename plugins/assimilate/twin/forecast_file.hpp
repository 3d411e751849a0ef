#pragma once
#include <string>
#include <vector>

#include "core/parallel/context.hpp"
#include "core/plugin/forecast_model.hpp"

namespace cambium::assimilate {

/// Fields over time, complete or not at all: /tasks/<field> by (t, x, z) float32, /scales/{sim_time, x, z}, where
/// other stages and xarray find them. `frames`: one for each time, elements of `centred`. Rank 0.
void write_frames(const std::string& path, const StateSpace& centred, const std::vector<double>& times,
                  const std::vector<std::vector<float>>& frames, const Context& context);

}  // namespace cambium::assimilate
