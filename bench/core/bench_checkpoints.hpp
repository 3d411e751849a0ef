#pragma once
#include "core/plugin/bench.hpp"

namespace cambium {

/// Time that a training is blocked by a checkpoint, written at once and by a thread during the next steps.
Bench bench_checkpoints();

}  // namespace cambium
