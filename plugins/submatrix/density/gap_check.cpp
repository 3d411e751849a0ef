#include "plugins/submatrix/density/gap_check.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/base/error.hpp"

namespace cambium::submatrix {

void require_gap(const DensityResult& result, const DensityOptions& options, Log& log) {
  constexpr double narrow = 0.05;  // eV
  const double gap = result.gap_high - result.gap_low;
  if (std::abs(result.electrons - options.electrons) > 2.0 * truncation_charge(options.electrons))
    throw NumericalError(
        fmt::format("no gap of the submatrices holds {:.0f} electrons: the nearest that is wide enough, of {:.2g} eV, "
                    "holds {:.1f}; metals and liquids need an electronic temperature, for example temperature: 1000 K",
                    options.electrons, gap, result.electrons));
  if (gap < narrow)
    log.warn(
        "the gap of the submatrices is below 0.05 eV, so that their truncation decides what is occupied; metals and "
        "liquids need an electronic temperature, for example temperature: 1000 K");
}

}  // namespace cambium::submatrix
