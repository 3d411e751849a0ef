#pragma once
#include <string>
#include <vector>

#include "core/base/timing.hpp"
#include "core/parallel/comm.hpp"
#include "core/plugin/task.hpp"

namespace cambium {

/// Collective. Duration and work of a stage; the rate in the field's unit; rows of section, min, avg, max over ranks
/// (s) and fraction of the time, if sections were timed; peak memory. The same lines on every rank.
std::vector<std::string> timing_table(const Timing& timing, const Task::Work& work, const Comm& comm);

/// Peak resident memory of this process in bytes.
double peak_memory();

}  // namespace cambium
