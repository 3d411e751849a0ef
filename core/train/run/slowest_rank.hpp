#pragma once
#include <string>
#include <vector>

#include "core/parallel/context.hpp"
#include "core/plugin/result.hpp"

namespace cambium::train {

/// Collective, after the loop: the rank with the longest computing time, which the others wait for. Computing is local
/// work: data, gradients, weight updates. Empty for one rank. `loop`: seconds of the loop.
std::vector<Result> slowest_rank(const Context& context, double loop);

}  // namespace cambium::train
