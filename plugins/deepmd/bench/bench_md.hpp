#pragma once
#include <nlohmann/json.hpp>

#include "core/parallel/context.hpp"

namespace cambium::deepmd {

/// `cambium bench md`: atom-steps per second of the Lennard-Jones melt and of Stillinger-Weber silicon, and their ratio
/// to the `lmp` program where one is installed, on the same number of ranks in the same call. Options: steps=N,
/// peer=no.
nlohmann::json bench_md(const nlohmann::json& options, Context& context);

}  // namespace cambium::deepmd
