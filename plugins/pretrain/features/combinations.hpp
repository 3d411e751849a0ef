#pragma once
#include <map>
#include <string>

#include "plugins/pretrain/features/matrix.hpp"

namespace cambium::pretrain {

/// Every combination of values of parameters, a row each with the parameters in the order of their names; the last name
/// changes first.
Matrix combinations(const std::map<std::string, std::vector<double>>& values);

}  // namespace cambium::pretrain
