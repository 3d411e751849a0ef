#pragma once
#include <string>
#include <vector>

#include "core/plugin/schedule.hpp"

namespace cambium {

/// One line per task with its reads and writes. Throws InternalError if a task names a field that the physics did not
/// declare.
std::vector<std::string> describe_schedule(const Schedule& schedule, const State& state);

}  // namespace cambium
