#pragma once
#include "core/plugin/bench.hpp"

namespace cambium::deepmd {

/// `cambium bench train`: optimizer steps of the water example's Deep Potential (25-50-100, axis 16, fitting 240x3,
/// rcut 6 Å) on its own frame of 192 atoms, in float32 and float64. Keys: ms_float32, ms_float64 (a step of one frame
/// on one rank, the fastest), frames_per_s_float32; if Python has PyTorch (Debian: python3-torch) pytorch_ms_float32,
/// pytorch_ms_float64, ratio_pytorch_float32, ratio_pytorch_float64 (of CPU time, which other processes disturb less;
/// cpu_ms_* are the times); with more ranks two_rank_ratio (frames per second of all ranks over those of one),
/// no_overlap_ratio and exposed_share (fraction of a step spent waiting for messages).
Bench bench_train();

}  // namespace cambium::deepmd
