#pragma once
#include "plugins/submatrix/options/density_options.hpp"

namespace cambium::submatrix {

/// Predicted time of one submatrix by the solver of `options`, up to a factor: a fit to measured times of each solver.
SubmatrixCost submatrix_cost(const DensityOptions& options);

}  // namespace cambium::submatrix
