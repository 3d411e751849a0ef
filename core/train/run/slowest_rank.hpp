#pragma once
#include <string>
#include <vector>

#include "core/parallel/context.hpp"
#include "core/plugin/result.hpp"

namespace cambium::train {

/// Collective, after the loop: the rank that computed longest, which the others wait for. Computing is what a rank does
/// without the others: data, gradients, the step of the weights. None for one rank. `loop`: seconds of the loop.
std::vector<Result> slowest_rank(const Context& context, double loop);

}  // namespace cambium::train
