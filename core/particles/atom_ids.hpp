#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace cambium {

/// What keeps these ids from being the numbers 1 to N, each once; empty when nothing does. Outputs in the order of tags
/// rely on it.
std::string problem_of_ids(const std::vector<std::int64_t>& ids);

}  // namespace cambium
