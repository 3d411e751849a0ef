#pragma once
#include <string>
#include <vector>

#include "apps/cambium/profile/peaks.hpp"
#include "core/base/recorder.hpp"
#include "core/parallel/comm.hpp"

namespace cambium {

/// Collective: classes with least, mean and most seconds of a rank, share of the wall time, rates and share of the
/// roof over all ranks; then the longest rows of rank 0. The same lines on every rank, but for those rows.
std::vector<std::string> profile_table(const Recorder& recorder, const Peaks& peaks, const Comm& comm);

}  // namespace cambium
