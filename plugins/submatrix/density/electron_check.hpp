#pragma once
#include <optional>

#include "plugins/submatrix/density/density_matrix.hpp"

namespace cambium::submatrix {

/// InputError for a number of electrons that this many functions do not hold, or that without temperature is not whole.
/// `electrons` is of both spins; functions hold two each. Nothing is said where mu is given.
void check_electrons(double electrons, std::int64_t functions, const DensityOptions& options);

/// The same for each of two spins with N up - N down = `magnetisation`.
void check_spins(double electrons, double magnetisation, std::int64_t functions, const DensityOptions& options);

/// InputError for a solver that gives the sign function at one mu only, and is asked for more.
void check_solver(const DensityOptions& options);

}  // namespace cambium::submatrix
