#pragma once
#include "core/plugin/bench.hpp"

namespace cambium {

/// Measures the peaks used by profiles again, together with oneDNN's matrix product if that library is installed.
Bench bench_peaks();

}  // namespace cambium
