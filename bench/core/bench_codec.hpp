#pragma once
#include "core/plugin/bench.hpp"

namespace cambium {

/// `cambium bench codec`: error-bounded compression of measured fields compared with published figures of SZ3 and with
/// ZFP in the same call, with and without learned corrections.
Bench bench_codec();

}  // namespace cambium
