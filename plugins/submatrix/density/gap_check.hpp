#pragma once
#include "core/base/log.hpp"
#include "plugins/submatrix/density/density_matrix.hpp"

namespace cambium::submatrix {

/// By how much truncation alone may change the number of electrons: 0.3 % of those of silicon at a bond order of 1e-2.
inline double truncation_charge(double electrons) { return 1.0 + 2e-3 * electrons; }

/// True if a result with `mid_gap` (eV) is that of a gap. NumericalError where the states below mu hold more or fewer
/// electrons than were asked for than truncation explains; a warning, printed once, where the gap is so narrow that
/// truncation decides what is occupied.
void require_gap(const DensityResult& result, const DensityOptions& options, Log& log);

}  // namespace cambium::submatrix
