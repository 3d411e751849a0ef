#pragma once
#include "core/plugin/bench.hpp"

namespace cambium {

/// `cambium bench task_bench`: METG(50 %) of the patterns over the back ends that are named, on all ranks of the call,
/// and what share of large messages is hidden behind equal work.
Bench bench_task_bench();

}  // namespace cambium
