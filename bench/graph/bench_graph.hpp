#pragma once
#include "core/plugin/bench.hpp"

namespace cambium::graph {

/// `cambium bench graph`: products of a sparse matrix with a tall dense one on graphs of CAMBIUM_DATA (without it on
/// synthetic ones of similar shape, which is reported), molecules and a mesh made here; rows and hybrid tiles of
/// core/sparse and all available reference implementations, interleaved. Seconds are medians over the turns, ratios
/// medians of the turns' ratios. A reference whose product is long and takes 3 times that of the fastest one runs once
/// (NAME_turns).
Bench bench_graph();

}  // namespace cambium::graph
