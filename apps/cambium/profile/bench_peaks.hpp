#pragma once
#include "core/plugin/bench.hpp"

namespace cambium {

/// The roofs that a profile compares with, anew, beside oneDNN's product where that library is installed.
Bench bench_peaks();

}  // namespace cambium
