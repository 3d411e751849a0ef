#include "plugins/submatrix/dftb/reciprocal.hpp"

#include <cmath>

#include "core/base/constants.hpp"

namespace cambium::submatrix {

namespace {

using constants::pi;

/// Rows are 2 pi times those of the inverse cell, transposed.
std::array<std::array<double, 3>, 3> reciprocal_cell(const DftbAtoms& atoms) {
  std::array<std::array<double, 3>, 3> out;
  for (std::size_t c = 0; c < 3; ++c) {
    const auto &u = atoms.cell[(c + 1) % 3], &v = atoms.cell[(c + 2) % 3];
    for (std::size_t k = 0; k < 3; ++k)
      out[c][k] = 2.0 * pi / atoms.volume * (u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3]);
  }
  return out;
}

}  // namespace

std::vector<std::array<double, 3>> waves_within(const DftbAtoms& atoms, double longest) {
  const auto g = reciprocal_cell(atoms);
  std::array<int, 3> most;
  for (std::size_t c = 0; c < 3; ++c) {
    const auto& a = atoms.cell[c];
    most[c] = static_cast<int>(longest * std::sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]) / (2.0 * pi)) + 1;
  }
  std::vector<std::array<double, 3>> out;
  for (int i = 0; i <= most[0]; ++i)
    for (int j = i == 0 ? 0 : -most[1]; j <= most[1]; ++j)
      for (int l = i == 0 && j == 0 ? 1 : -most[2]; l <= most[2]; ++l) {
        std::array<double, 3> k;
        for (std::size_t c = 0; c < 3; ++c) k[c] = i * g[0][c] + j * g[1][c] + l * g[2][c];
        if (k[0] * k[0] + k[1] * k[1] + k[2] * k[2] < longest * longest) out.push_back(k);
      }
  return out;
}

}  // namespace cambium::submatrix
