#pragma once
#include <nlohmann/json_fwd.hpp>

#include "core/parallel/context.hpp"
#include "core/plugin/bench.hpp"

namespace cambium::relate {

/// Steps of `cosine_factorization` with the margin loss (no history, SGD) on made choices: of each rank `batch`
/// choices, told from `cosine_drawn` items; `cosine_users` and `cosine_items` rows of `cosine_width` numbers, float32.
/// Adds cosines_step_ms and cosines_per_s. Returns the largest difference of rows after all turns from those of loops
/// over pairs in double, over the largest number.
///
/// Where python3 with torch is there (`cosine_peer`, studies/cosines_pytorch.py), eager PyTorch at the same sizes:
/// pytorch_cosines_bmm_step_ms with a batched product of items drawn for each choice alone, and cosines_ratio_pytorch,
/// its time over ours; pytorch_cosines_shared_step_ms with one product for items that choices share as ours do, and
/// cosines_ratio_pytorch_shared.
double measure_cosines(const BenchOptions& options, nlohmann::json& out, Context& context);

}  // namespace cambium::relate
