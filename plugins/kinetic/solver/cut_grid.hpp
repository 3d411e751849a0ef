#pragma once
#include <vector>

#include "plugins/kinetic/solver/phase_grid.hpp"

namespace cambium::kinetic {

/// decompose() for one of `ranks` ranks that need not be there. InputError as that.
void decompose(PhaseGrid& grid, int rank, int ranks, const std::vector<int>& given);

}  // namespace cambium::kinetic
