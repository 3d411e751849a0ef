#pragma once
#include <string>
#include <vector>

#include "plugins/submatrix/matrices/cell_matrices.hpp"

namespace cambium::submatrix {

/// Throws InputError when an element is not finite, or when M(R) at (i, j) differs from M(-R) at (j, i) by more than
/// `tolerance`; the text begins with `what` and names row and column (from 0).
void check_entries(const std::string& what, const std::vector<LatticeEntry>& entries, double tolerance = 1e-8);

}  // namespace cambium::submatrix
