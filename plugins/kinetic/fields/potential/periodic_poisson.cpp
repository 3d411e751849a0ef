#include "plugins/kinetic/fields/potential/periodic_poisson.hpp"

#include "core/base/constants.hpp"
#include "plugins/kinetic/fields/dense.hpp"
#include "plugins/kinetic/fields/potential/fourier.hpp"

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

PeriodicPoisson::PeriodicPoisson(const ConfGrid& grid, const Element& element) : grid_(grid), kinds_(element.kinds) {
  for (int cell = 0; cell < grid_.count(); ++cell)
    inverse_.push_back(inverse_of_wave(grid_, element, grid_.place(cell)));
}

void PeriodicPoisson::transform(std::vector<Complex>& field, int sign) const {
  const int nx = grid_.cells[0], ny = grid_.cells[1];
  std::vector<Complex> line;
  for (int x = 0; x < nx && ny > 1; ++x) {
    line.assign(field.begin() + x * ny, field.begin() + (x + 1) * ny);
    fourier(line, sign);
    std::copy(line.begin(), line.end(), field.begin() + x * ny);
  }
  for (int y = 0; y < ny; ++y) {
    line.resize(nx);
    for (int x = 0; x < nx; ++x) line[x] = field[x * ny + y];
    fourier(line, sign);
    for (int x = 0; x < nx; ++x) field[x * ny + y] = line[x];
  }
}

void PeriodicPoisson::solve(std::vector<std::vector<Complex>>& right) const {
  for (auto& r : right) transform(r, -1);
  std::vector<Complex> in(kinds_);
  for (int cell = 0; cell < grid_.count(); ++cell) {
    for (int a = 0; a < kinds_; ++a) in[a] = right[a][cell];
    for (int a = 0; a < kinds_; ++a) {
      right[a][cell] = 0.0;
      for (int b = 0; b < kinds_; ++b) right[a][cell] += inverse_[cell][a * kinds_ + b] * in[b] / double(grid_.count());
    }
  }
  for (auto& r : right) transform(r, 1);
}

int PeriodicPoisson::owner(int cell, const Element::Node& node) const {
  auto at = grid_.place(cell);
  for (int d = 0; d < grid_.dimensions; ++d) at[d] = (at[d] + node.shift[d]) % grid_.cells[d];
  return grid_.index(at);
}

}  // namespace cambium::kinetic
