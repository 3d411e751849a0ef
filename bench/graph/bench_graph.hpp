#pragma once
#include "core/plugin/bench.hpp"

namespace cambium::graph {

/// `cambium bench graph`: products of a sparse matrix with a tall dense one on graphs of CAMBIUM_DATA (of like shape,
/// and said so, without), molecules and a mesh made here; rows and hybrid tiles of core/sparse and all peers that are
/// there, in turns. Seconds are medians over the turns, ratios medians of the turns' ratios. A peer whose product is
/// long and 3 times that of the fastest peer takes one turn (NAME_turns).
Bench bench_graph();

}  // namespace cambium::graph
