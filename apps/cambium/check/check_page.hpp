#pragma once
#include <string>
#include <vector>

#include "core/plugin/check.hpp"

namespace cambium {

/// Page of a check for one stage: the files it will write, memory and time.
std::vector<std::string> lines_of(const Check::Stage& stage);

/// "3.2 s", "12 min", "5.3 h", "8 days": a rounded, human-readable time.
std::string time_text(double seconds);

}  // namespace cambium
