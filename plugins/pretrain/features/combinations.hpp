#pragma once
#include <map>
#include <string>

#include "plugins/pretrain/features/matrix.hpp"

namespace cambium::pretrain {

/// Cartesian product of parameter values, one combination per row, with parameters in the order of their names; the
/// last one changes fastest.
Matrix combinations(const std::map<std::string, std::vector<double>>& values);

}  // namespace cambium::pretrain
