#pragma once
#include "plugins/submatrix/submatrices/density_options.hpp"

namespace cambium::submatrix {

/// Predicted time of one submatrix by the solver of `options`, up to a factor: a fit to measured times of each solver.
/// `krylov_blocks`: as many as a submatrix of the matrix needs, where that is known; 0: as the tolerance lets expect.
SubmatrixCost submatrix_cost(const DensityOptions& options, int krylov_blocks = 0);

}  // namespace cambium::submatrix
