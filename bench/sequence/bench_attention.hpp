#pragma once
#include "core/plugin/bench.hpp"

namespace cambium::train {

/// `cambium bench attention`: time and memory of one head, forward and backward, by type of attention over the length
/// of a text, and the error of random features over their number.
Bench bench_attention();

}  // namespace cambium::train
