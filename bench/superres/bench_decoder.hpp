#pragma once
#include "core/plugin/bench.hpp"

namespace cambium::superres {

/// `cambium bench meshfree_flow_net`: at the published sizes (4 x 16 x 16 coarse samples; points=128, since the graphs
/// of nested differentiation take much memory), one core: the decoder with the six streams of the Boussinesq equations
/// against its matrix products only, and a complete training step (encoder, decoder, data and residual loss,
/// back-propagation) with jets and with nested differentiation. Minimum CPU times of `repeat` rounds.
Bench bench_decoder();

}  // namespace cambium::superres
