#include "plugins/deepmd/training/hermite.hpp"

#include <cmath>
#include <utility>

namespace cambium::deepmd {

namespace {

using Matrix = std::array<std::array<double, Hermite::terms>, Hermite::terms>;
using Wide = std::array<std::array<long double, 2 * Hermite::terms>, Hermite::terms>;

/// Values and slopes at the nodes as functions of the coefficients, augmented by the identity matrix.
Wide equations() {
  Wide m{};
  for (std::size_t i = 0; i < Hermite::nodes; ++i) {
    const long double t = Hermite::node[i];
    long double power = 1.0L;  // t^j
    for (std::size_t j = 0; j < Hermite::terms; ++j, power *= t) {
      m[i][j] = power;
      if (j + 1 < Hermite::terms) m[Hermite::nodes + i][j + 1] = static_cast<long double>(j + 1) * power;
    }
  }
  for (std::size_t k = 0; k < Hermite::terms; ++k) m[k][Hermite::terms + k] = 1.0L;
  return m;
}

/// Gauss-Jordan elimination with partial pivoting.
Matrix inverse(Wide m) {
  constexpr std::size_t n = Hermite::terms;
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < n; ++i)
      if (std::abs(m[i][k]) > std::abs(m[pivot][k])) pivot = i;
    std::swap(m[k], m[pivot]);
    const long double scale = 1.0L / m[k][k];
    for (long double& v : m[k]) v *= scale;
    for (std::size_t i = 0; i < n; ++i) {
      const long double factor = i == k ? 0.0L : m[i][k];
      for (std::size_t j = 0; j < 2 * n; ++j) m[i][j] -= factor * m[k][j];
    }
  }
  Matrix out{};
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) out[i][j] = static_cast<double>(m[i][n + j]);
  return out;
}

}  // namespace

const Matrix& Hermite::from_data() {
  static const Matrix matrix = inverse(equations());
  return matrix;
}

}  // namespace cambium::deepmd
