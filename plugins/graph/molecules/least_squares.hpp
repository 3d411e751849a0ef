#pragma once
#include <vector>

namespace cambium::graph {

/// x of least norm with A x = b, for a symmetric A without negative eigenvalues that may lack rank (n x n, row-major):
/// eigenvalues below 1e-10 of the largest count as none.
std::vector<double> solve_symmetric(std::vector<double> a, const std::vector<double>& b);

}  // namespace cambium::graph
