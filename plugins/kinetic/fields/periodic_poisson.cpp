#include "plugins/kinetic/fields/periodic_poisson.hpp"

#include "core/base/constants.hpp"
#include "core/base/counts.hpp"
#include "core/parallel/host_threads.hpp"
#include "plugins/kinetic/fields/dense.hpp"

namespace cambium::kinetic {

std::vector<std::complex<double>> inverse_of_wave(const ConfGrid& grid, const Element& element,
                                                  const std::array<int, 3>& k) {
  using Complex = std::complex<double>;
  const auto& nodes = element.nodes;
  const int n = static_cast<int>(nodes.size()), kinds = element.kinds;
  std::vector<Complex> s(kinds * kinds, 0.0);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      double phase = 0.0;
      for (int d = 0; d < grid.dimensions; ++d)
        phase += 2.0 * constants::pi * k[d] * (nodes[j].shift[d] - nodes[i].shift[d]) / grid.cells[d];
      s[nodes[i].kind * kinds + nodes[j].kind] += element.stiffness[i * n + j] * std::polar(1.0, phase);
    }
  if (k != std::array<int, 3>{}) return inverse(s, kinds);
  // Constants are free: the first kind of nodes is pinned to zero for the mean.
  for (int j = 0; j < kinds; ++j) s[j] = s[j * kinds] = 0.0;
  s[0] = 1.0;
  auto out = inverse(s, kinds);
  out[0] = 0.0;
  return out;
}

PeriodicPoisson::PeriodicPoisson(const ConfGrid& grid, const Element& element)
    : grid_(grid), kinds_(element.kinds), along_x_(grid.cells[0]), along_y_(grid.cells[1]) {
  for (int cell = 0; cell < grid_.count(); ++cell)
    inverse_.push_back(inverse_of_wave(grid_, element, grid_.place(cell)));
}

void PeriodicPoisson::transform(std::vector<Complex>& field, int sign) const {
  const int nx = grid_.cells[0], ny = grid_.cells[1];
  in_shares(ny > 1 ? nx : 0, 1, [&](std::int64_t first, std::int64_t last) {
    for (auto x = first; x < last; ++x) along_y_(&field[at(x) * at(ny)], 1, 1, sign);
  });
  in_shares(ny, 1, [&](std::int64_t first, std::int64_t last) {
    along_x_(&field[at(first)], static_cast<int>(last - first), ny, sign);
  });
}

void PeriodicPoisson::solve(std::vector<std::vector<Complex>>& right) const {
  for (auto& r : right) transform(r, -1);
  in_shares(grid_.count(), 256, [&](std::int64_t first, std::int64_t last) {
    std::vector<Complex> in(at(kinds_));
    for (auto cell = at(first); cell < at(last); ++cell) {
      for (std::size_t a = 0; a < in.size(); ++a) in[a] = right[a][cell] / double(grid_.count());
      for (std::size_t a = 0; a < in.size(); ++a) {
        right[a][cell] = 0.0;
        for (std::size_t b = 0; b < in.size(); ++b) right[a][cell] += inverse_[cell][a * in.size() + b] * in[b];
      }
    }
  });
  for (auto& r : right) transform(r, 1);
}

int PeriodicPoisson::owner(int cell, const Element::Node& node) const {
  auto at = grid_.place(cell);
  for (int d = 0; d < grid_.dimensions; ++d) at[d] = (at[d] + node.shift[d]) % grid_.cells[d];
  return grid_.index(at);
}

}  // namespace cambium::kinetic
