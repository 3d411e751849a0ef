#pragma once
#include <utility>

#include "plugins/pretrain/features/matrix.hpp"

namespace cambium::pretrain {

/// Both sets of parameters with deviations of 1, as logarithms where they are above 0 and span more than a decade.
std::pair<Matrix, Matrix> comparable(Matrix candidates, Matrix known);
/// The same, but whether logarithms are taken, mean and deviation follow from the known ones alone.
std::pair<Matrix, Matrix> comparable_by_known(Matrix candidates, Matrix known);

}  // namespace cambium::pretrain
