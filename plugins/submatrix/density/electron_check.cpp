#include "plugins/submatrix/density/electron_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/key_error.hpp"

namespace cambium::submatrix {

/// Files give the number as a sum of charges, so not to the last digit.
static bool is_whole(double electrons) { return std::abs(electrons - std::round(electrons)) <= 1e-6; }

void check_solver(const DensityOptions& options) {
  const bool iterates = shows_no_states(options.solver);
  if (iterates && (!options.mu || options.kt > 0.0))
    throw KeyError(
        "density_matrix.solver", "solver",
        "newton_schulz and pade give the sign function at one mu: add mu, leave out temperature, or choose solver "
        "lanczos or diagonalise");
}

void check_electrons(double electrons, std::int64_t functions, const DensityOptions& options) {
  if (options.mu) return;
  const auto most = 2.0 * static_cast<double>(functions);
  if (electrons > most + 1e-6)
    throw KeyError(
        "density_matrix.electrons.range", "electrons",
        fmt::format("electrons is {:.10g}, but {} functions hold at most {:.0f}; give the number of electrons of these "
                    "matrices, without those of the cores",
                    electrons, functions, most));
  if (options.kt <= 0.0 && !is_whole(electrons))
    throw KeyError("density_matrix.electrons.whole", "electrons",
                   fmt::format("electrons is {:.10g}: without temperature it must be a whole number; correct it, or "
                               "add a temperature (temperature: 1000 K)",
                               electrons));
}

void check_spins(double electrons, double magnetisation, std::int64_t functions, const DensityOptions& options) {
  const double up = 0.5 * (electrons + magnetisation), down = 0.5 * (electrons - magnetisation),
               more = std::max(up, down);
  if (more > static_cast<double>(functions) + 1e-6)
    throw KeyError(
        "density_matrix.magnetisation.range", "magnetisation",
        fmt::format("magnetisation is {:.10g} with {:.10g} electrons: {:.10g} of one spin, but {} functions hold one "
                    "each; choose a smaller magnetisation",
                    magnetisation, electrons, more, functions));
  if (options.kt <= 0.0 && !is_whole(up))
    throw KeyError(
        "density_matrix.magnetisation.whole", "magnetisation",
        fmt::format("magnetisation is {:.10g} with {:.10g} electrons: {:.10g} of spin up and {:.10g} of spin down; "
                    "without temperature both must be whole numbers",
                    magnetisation, electrons, up, down));
}

}  // namespace cambium::submatrix
