#pragma once
#include <vector>

namespace cambium::graph {

/// Minimum-norm solution of A x = b for a symmetric positive semi-definite A, possibly rank deficient (n x n,
/// row-major): eigenvalues below 1e-10 of the largest are treated as zero.
std::vector<double> solve_symmetric(std::vector<double> a, const std::vector<double>& b);

}  // namespace cambium::graph
