#pragma once
#include <optional>

#include "plugins/submatrix/density/density_matrix.hpp"

namespace cambium::submatrix {

/// KeyError for a number of electrons that exceeds the capacity of this many functions, or that is not an integer at
/// zero temperature. `electrons` is of both spins; functions hold two each. Not checked if mu is given.
void check_electrons(double electrons, std::int64_t functions, const DensityOptions& options);

/// The same for each of two spins with N up - N down = `magnetisation`.
void check_spins(double electrons, double magnetisation, std::int64_t functions, const DensityOptions& options);

/// KeyError for a solver of the sign function, which needs one given mu and zero temperature, if the options lack them.
void check_solver(const DensityOptions& options);

}  // namespace cambium::submatrix
