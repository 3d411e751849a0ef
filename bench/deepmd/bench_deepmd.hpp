#pragma once
#include "core/plugin/bench.hpp"

namespace cambium::deepmd {

/// `cambium bench deepmd`: one evaluation of a water-sized Deep Potential (rcut 6 Å, embedding 25-50-100, axis 16,
/// fitting 240x3, random weights) at the density of water, on this rank. Keys: float64_compressed_us,
/// mixed_compressed_us, float64_us, mixed_us (per atom-step), bytes_per_atom (weights, tables and work arrays of the
/// float64 compressed engine), gemm_share and mixed_gemm_share (rate of the compressed evaluation, counting operations
/// of the fitting networks, as a fraction of the peak rate of matrix products measured in the same run); each the worst
/// of all sizes and, with _ATOMS appended, for each; gemm_peak_gflops and mixed_gemm_peak_gflops; check (forces against
/// the float64 networks).
Bench bench_deepmd();

}  // namespace cambium::deepmd
