#pragma once
#include "core/plugin/bench.hpp"

namespace cambium {

/// `cambium bench task_bench`: METG(50 %) of the patterns over the named back ends, on all ranks of the call, and the
/// fraction of large messages that is overlapped with equal work.
Bench bench_task_bench();

}  // namespace cambium
