#pragma once
#include "core/plugin/bench.hpp"

namespace cambium {

/// How long a training stands still for a checkpoint, written at once and by a thread behind the next steps.
Bench bench_checkpoints();

}  // namespace cambium
