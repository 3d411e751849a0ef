#pragma once
#include "core/plugin/bench.hpp"

namespace cambium::pretrain {

/// `cambium bench pretrain`, one thread. Times are of the processor, the least of all turns, in which both sides take
/// their turn. Of each kind of vectors: KIND_exact_one_us and KIND_exact_us (a query alone, and one of many together),
/// KIND_exact_share_of_memory (of the rate at which the rows can be read), KIND_exact_gflops, KIND_approximate_us with
/// KIND_recall, KIND_compared_share, KIND_build_seconds, and the same of faiss as KIND_peer_*. Of the loss SCHEME_ms,
/// pytorch_SCHEME_ms. Of the encoder step_ms, pytorch_step_ms; on more ranks ranks_step_ms and ranks_ratio, by the
/// clock on the wall.
Bench bench_pretrain();

}  // namespace cambium::pretrain
