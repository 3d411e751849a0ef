#pragma once
#include <string>
#include <vector>

#include "apps/cambium/profile/peaks.hpp"
#include "core/base/recorder.hpp"
#include "core/parallel/comm.hpp"

namespace cambium {

/// Collective: classes with minimum, mean and maximum seconds per rank, fraction of the wall time, rates and fraction
/// of the peak over all ranks; then the longest rows of rank 0. The same lines on every rank, except for those rows.
std::vector<std::string> profile_table(const Recorder& recorder, const Peaks& peaks, const Comm& comm);

}  // namespace cambium
