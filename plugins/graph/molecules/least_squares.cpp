#include "plugins/graph/molecules/least_squares.hpp"

#include "core/numerics/symmetric_eigen.hpp"

namespace cambium::graph {

std::vector<double> solve_symmetric(std::vector<double> a, const std::vector<double>& b) {
  const std::size_t n = b.size();
  std::vector<double> values(n), x(n, 0.0);
  symmetric_eigenvectors(static_cast<int>(n), a.data(), values.data());
  for (std::size_t j = 0; j < n; ++j) {
    if (values[j] <= 1e-10 * values.back()) continue;
    double along = 0.0;
    for (std::size_t k = 0; k < n; ++k) along += a[j * n + k] * b[k];
    for (std::size_t k = 0; k < n; ++k) x[k] += along / values[j] * a[j * n + k];
  }
  return x;
}

}  // namespace cambium::graph
