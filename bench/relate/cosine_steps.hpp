#pragma once
#include <nlohmann/json_fwd.hpp>

#include "core/parallel/context.hpp"
#include "core/plugin/bench.hpp"

namespace cambium::relate {

/// Steps of `cosine_factorization` with the margin loss (no history, SGD) on synthetic interactions: per rank `batch`
/// interactions with `cosine_drawn` negative items; `cosine_users` and `cosine_items` rows of `cosine_width` values,
/// float32. Adds cosines_step_ms and cosines_per_s. Returns the largest difference of rows after all turns from those
/// of loops over pairs in double, relative to the largest value.
///
/// If python3 with torch is available (`cosine_peer`, studies/cosines_pytorch.py), eager PyTorch at the same sizes:
/// pytorch_cosines_bmm_step_ms with a batched product of negatives drawn per interaction, and cosines_ratio_pytorch,
/// its time over ours; pytorch_cosines_shared_step_ms with one product for negatives shared by all interactions, as in
/// ours, and cosines_ratio_pytorch_shared.
double measure_cosines(const BenchOptions& options, nlohmann::json& out, Context& context);

}  // namespace cambium::relate
