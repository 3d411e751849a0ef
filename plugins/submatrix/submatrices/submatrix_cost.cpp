#include "plugins/submatrix/submatrices/submatrix_cost.hpp"

#include <algorithm>
#include <cmath>

namespace cambium::submatrix {

namespace {

// Fitted to times of submatrices of 126 to 1,536 rows on one core, in units of 1e-10 s or so
// (docs/measured/submatrix_groups.json).

/// The reduction; below some 1,400 rows what is of order n^2 weighs more: filling, rotating, and reflecting eight
/// wanted columns at a time.
double diagonalise(double n, double width) {
  const double slices = std::ceil(width / 8.0);
  return 0.264 * n * n * n + (365.0 + 67.8 * slices) * n * n;
}

/// By its operations, at the rate of the reduction: not fitted.
double local(double n, double width) { return 8.0 * n * n * n + 200.0 * n * n + 2.0 * n * n * width; }

double iteration(double n, double) { return 18.0 * n * n * n; }

/// Approximate number of Krylov blocks that a tolerance requires.
double expected_blocks(double tolerance) { return std::max(6.0, -9.0 * std::log10(tolerance) - 10.0); }

/// Orthogonalisation and the projected problem grow with the
/// square and the cube of the space. A space of more than half the submatrix is not built.
double lanczos(double n, double width, double blocks) {
  const double space = std::min(n, blocks * width);
  const double krylov = 71.0 * n * n + 0.84 * n * n * space + 3.9 * space * space * space;
  return 2.0 * space > n ? std::min(krylov, diagonalise(n, width)) : krylov;
}

}  // namespace

SubmatrixCost submatrix_cost(const DensityOptions& options, int krylov_blocks) {
  if (options.form == Form::local) return local;
  if (options.solver == SolverKind::diagonalise) return diagonalise;
  if (options.solver == SolverKind::newton_schulz || options.solver == SolverKind::pade) return iteration;
  const double tolerance =
      options.krylov_tolerance > 0.0 ? options.krylov_tolerance : std::clamp(10.0 * options.eps, 2e-6, 1e-2);
  const double blocks = krylov_blocks > 0 ? krylov_blocks : expected_blocks(tolerance);
  return [blocks](double n, double width) { return lanczos(n, width, blocks); };
}

}  // namespace cambium::submatrix
