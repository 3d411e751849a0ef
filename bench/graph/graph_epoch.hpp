#pragma once
#include "core/plugin/bench.hpp"

namespace cambium::graph {

/// `cambium bench graph_epoch`: one epoch (full-graph gradient and a step of Adam, float32, dropout 0.5) of a two-layer
/// graph convolution network on one rank, interleaved with eager PyTorch. CPU time, the fastest epoch.
Bench bench_graph_epoch();

}  // namespace cambium::graph
