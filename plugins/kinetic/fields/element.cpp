#include "plugins/kinetic/fields/element.hpp"

#include <cmath>

#include "core/base/key_error.hpp"
#include "plugins/kinetic/deck/projection.hpp"
#include "plugins/kinetic/fields/dense.hpp"

namespace cambium::kinetic {

Element::Element(const ConfGrid& grid) {
  const int p = grid.highest(), dims = grid.dimensions;
  std::vector<std::array<double, 2>> at;
  auto node = [&](double x, double y, int kind, int sx, int sy) {
    auto steps = [p](double xi) { return static_cast<int>(std::lround(0.5 * p * (xi + 1.0))); };
    nodes.push_back({kind, {sx, sy}, {steps(x), steps(y)}});
    at.push_back({x, y});
  };
  for (int sy = 0; sy < (dims > 1 ? 2 : 1); ++sy)
    for (int sx = 0; sx < 2; ++sx) node(2 * sx - 1, 2 * sy - 1, 0, sx, sy);
  kinds = 1;
  if (p == 2) {
    for (int sy = 0; sy < (dims > 1 ? 2 : 1); ++sy) node(0, 2 * sy - 1, 1, 0, sy);
    if (dims > 1)
      for (int sx = 0; sx < 2; ++sx) node(2 * sx - 1, 0, 2, sx, 0);
    kinds = dims > 1 ? 3 : 2;
  }
  const int n = static_cast<int>(nodes.size());
  if (n != grid.modes())
    throw KeyError("vlasov_poisson.basis.family", "basis.family",
                   "vlasov_poisson in two dimensions needs the serendipity family");
  // Row i of the inverse of V_ki = chi_k(node i): shape i = sum_k shape[i][k] chi_k is one at node i, zero at the
  // others.
  std::vector<double> v(n * n);
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < n; ++k) {
      double value = 1.0;
      for (int d = 0; d < dims; ++d) value *= legendre(grid.exponents[k][d], at[i][d]);
      v[k * n + i] = value;
    }
  shape = inverse(v, n);
  for (int d = 0; d < dims; ++d)
    for (int a = 0; a < n; ++a)
      for (int b = 0; b < n; ++b) {
        // chi_b' = (2/dx) sum_a chi_a integral(chi_a chi_b')
        bool others_equal = true;
        for (int e = 0; e < dims; ++e) others_equal &= e == d || grid.exponents[a][e] == grid.exponents[b][e];
        const int ia = grid.exponents[a][d], ib = grid.exponents[b][d];
        if (others_equal && ib > ia && (ib - ia) % 2)
          slope[d].entries.push_back({a, b, std::sqrt((2.0 * ia + 1) * (2.0 * ib + 1)) * 2.0 / grid.width[d]});
      }
  stiffness.assign(n * n, 0.0);
  double jacobian = 1.0;
  for (int d = 0; d < dims; ++d) jacobian *= 0.5 * grid.width[d];
  for (int d = 0; d < dims; ++d) {
    std::vector<double> g(n * n, 0.0);
    for (int i = 0; i < n; ++i) slope[d].add(1.0, &shape[i * n], &g[i * n]);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        for (int k = 0; k < n; ++k) stiffness[i * n + j] += jacobian * g[i * n + k] * g[j * n + k];
  }
}

}  // namespace cambium::kinetic
