#pragma once
#include "core/plugin/bench.hpp"

namespace cambium::graph {

/// `cambium bench graph_epoch`: one epoch (gradient of the whole graph and a step of Adam, float32, dropout 0.5) of a
/// two-layer graph convolution network on one rank, beside eager PyTorch, in turns. Processor time, the fastest epoch.
Bench bench_graph_epoch();

}  // namespace cambium::graph
