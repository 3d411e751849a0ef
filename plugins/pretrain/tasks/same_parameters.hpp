#pragma once
#include <map>
#include <string>
#include <vector>

#include "core/train/kinds/dataset.hpp"

namespace cambium::pretrain {

/// InputError where an opened archive's runs have parameters of other names than those of `key`: vectors and fits know
/// them by their order alone, so that one would be taken for another.
void require_names(const train::Dataset& archive, const std::map<std::string, std::vector<double>>& wanted,
                   const char* key);

}  // namespace cambium::pretrain
