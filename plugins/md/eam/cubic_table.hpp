#pragma once
#include <span>
#include <vector>

#include "core/base/pack.hpp"

namespace cambium::md {

/// Cubic Hermite interpolation of equally spaced values from 0 on: rows of four coefficients, one for each of the
/// points - 1 intervals, of powers of the position 0 <= t <= 1 within. Slopes at the points are five-point differences,
/// two-step central ones next to the ends and one-sided at the ends, as in the interpolation of LAMMPS' pair_style eam.
std::vector<double> hermite_rows(std::span<const double> values);

/// Value of a cubic and its derivative with respect to the argument.
template <class P>
struct CubicValue {
  P value, slope;
};

/// Intervals and positions of arguments for tables with the same points; clamped to the last point.
template <class P>
struct CubicPlace {
  P interval, t;
  double per_step;  ///< 1/spacing

  CAMBIUM_FN CubicPlace(P x, double inverse_spacing, int points) : per_step(inverse_spacing) {
    constexpr double big = 0x1p52;  // floating-point values from there on are integers
    const P steps = min(x * P(inverse_spacing), P(points - 1.0));
    const P nearest = (steps + P(big)) - P(big);
    interval = min(select(nearest > steps, nearest - P(1.0), nearest), P(points - 2.0));
    t = steps - interval;
  }

  /// `first`: row of the table's first interval among `rows`, for each lane.
  CAMBIUM_FN CubicValue<P> read(const double* rows, P first) const {
    const P at = interval + first;
    int row[P::width];
    for (int k = 0; k < P::width; ++k) row[k] = static_cast<int>(at[k]);
    const auto c = gather_rows<P>(rows, row);
    return {fma(fma(fma(c.type, t, c.z), t, c.y), t, c.x),
            P(per_step) * fma(fma(P(3.0) * c.type, t, P(2.0) * c.z), t, c.y)};
  }
};

}  // namespace cambium::md
