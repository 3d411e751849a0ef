#pragma once
#include <utility>

#include "plugins/pretrain/features/matrix.hpp"

namespace cambium::pretrain {

/// Both sets of parameters with unit standard deviation, as logarithms if they are positive and span more than a
/// decade.
std::pair<Matrix, Matrix> comparable(Matrix candidates, Matrix known);
/// The same, but with scaling (logarithm, mean and standard deviation) derived from the known ones only.
std::pair<Matrix, Matrix> comparable_by_known(Matrix candidates, Matrix known);

}  // namespace cambium::pretrain
