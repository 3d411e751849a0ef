#pragma once
#include <string>
#include <vector>

#include "plugins/submatrix/matrices/cell_matrices.hpp"

namespace cambium::submatrix {

/// Throws InputError when an element is not finite, or when M(R) at (i, j) differs from the conjugate of M(-R) at (j,
/// i) by more than 1e-8; the message begins with `what` and names row and column, counted from `first`. Elements must
/// be unique.
void check_entries(const std::string& what, const std::vector<LatticeEntry>& entries, int first = 0);

}  // namespace cambium::submatrix
