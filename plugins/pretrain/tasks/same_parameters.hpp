#pragma once
#include <map>
#include <string>
#include <vector>

#include "core/train/kinds/dataset.hpp"

namespace cambium::pretrain {

/// InputError if the runs of an opened archive have other parameter names than `key`: vectors and fits know parameters
/// by their order only and would confuse them.
void require_names(const train::Dataset& archive, const std::map<std::string, std::vector<double>>& wanted,
                   const char* key);

}  // namespace cambium::pretrain
