#pragma once
#include "plugins/submatrix/submatrices/density_options.hpp"

namespace cambium::submatrix {

/// Collective: computes D, E, N and mu from H and S. Sections of context.timing: "overlap", "transform", "columns",
/// "mu", "density", "estimate". With `options.purification`: purified_density().
DensityResult density_matrix(const MatrixSystem& system, const DensityOptions& options, Context& context);

}  // namespace cambium::submatrix
