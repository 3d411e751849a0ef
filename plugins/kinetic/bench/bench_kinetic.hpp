#pragma once
#include <nlohmann/json.hpp>

#include "core/parallel/context.hpp"

namespace cambium::kinetic {

/// Full steps (distribution function with E and B, Maxwell's equations with the current, three Runge-Kutta stages) of
/// several configurations, in million cell-steps per second over all ranks, with the share of the memory and arithmetic
/// limits that they reach. Options: seconds=2 per case, only=1x1v_p2, size=1 (0: small, for tests).
nlohmann::json bench_kinetic(const nlohmann::json& options, Context& context);

}  // namespace cambium::kinetic
