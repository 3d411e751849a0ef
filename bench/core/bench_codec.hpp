#pragma once
#include "core/plugin/bench.hpp"

namespace cambium {

/// `cambium bench codec`: error-bounded compression of measured fields beside SZ3's figures and ZFP in the same call,
/// and what learned corrections add, beside none at all.
Bench bench_codec();

}  // namespace cambium
