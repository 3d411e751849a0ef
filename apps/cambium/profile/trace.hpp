#pragma once
#include <string>
#include <vector>

#include "core/base/recorder.hpp"

namespace cambium {

/// The regions of a rank as complete events of the Trace Event Format (times in µs, a process for each rank), without
/// the brackets around the list.
std::string trace_events(const Recorder& recorder, int rank);

/// The file of all ranks' events.
std::string trace_text(const std::vector<std::string>& ranks);

}  // namespace cambium
