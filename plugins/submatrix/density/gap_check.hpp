#pragma once
#include "core/base/log.hpp"
#include "plugins/submatrix/density/density_matrix.hpp"

namespace cambium::submatrix {

/// Change of the number of electrons that truncation may cause: 0.3 % of those of silicon at a bond order of 1e-2.
inline double truncation_charge(double electrons) { return 1.0 + 2e-3 * electrons; }

/// Checks the gap of a result with `mid_gap` (eV). NumericalError if the number of electrons below mu differs from the
/// requested one by more than truncation explains; a warning, printed once, if the gap is so narrow that truncation
/// decides the occupation.
void require_gap(const DensityResult& result, const DensityOptions& options, Log& log);

}  // namespace cambium::submatrix
