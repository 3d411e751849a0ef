#pragma once
#include "core/plugin/bench.hpp"

namespace cambium::pretrain {

/// `cambium bench pretrain`, one thread. Times are CPU times, the minimum of all turns, interleaved with the reference.
/// For each kind of vectors: KIND_exact_one_us and KIND_exact_us (a single query, and per query of many),
/// KIND_exact_share_of_memory (of the rate at which the rows can be read), KIND_exact_gflops, KIND_approximate_us with
/// KIND_recall, KIND_compared_share, KIND_build_seconds, and the same of faiss as KIND_peer_*. For the loss SCHEME_ms,
/// pytorch_SCHEME_ms. For the encoder step_ms, pytorch_step_ms; on more ranks ranks_step_ms and ranks_ratio, in wall
/// time.
Bench bench_pretrain();

}  // namespace cambium::pretrain
