#pragma once
#include "plugins/submatrix/density/density_matrix.hpp"

namespace cambium::submatrix {

/// Collective: density_matrix() of a system that may hold several copies of the states of its cell (complex matrices,
/// k-points). The number of electrons in `options` and energies, electrons and errors in the result are those of the
/// cell; the density matrix has the blocks of the system.
DensityResult density_per_cell(const MatrixSystem& system, const DensityOptions& options, Context& context);

}  // namespace cambium::submatrix
