#pragma once
#include <array>
#include <vector>

#include "plugins/submatrix/dftb/atoms.hpp"

namespace cambium::submatrix {

/// Reciprocal lattice vectors shorter than `longest` (1/bohr), one of k and -k, without 0.
std::vector<std::array<double, 3>> waves_within(const DftbAtoms& atoms, double longest);

}  // namespace cambium::submatrix
