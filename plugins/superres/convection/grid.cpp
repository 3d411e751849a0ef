#include "plugins/superres/convection/grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/key_error.hpp"
#include "plugins/superres/convection/row_share.hpp"

namespace cambium::superres {

double Grid::between(int k) const {
  if (k == 0) return height(0);
  if (k == nz) return height(nz - 1);
  return center(k) - center(k - 1);
}

double Grid::least_height() const {
  double least = lz;
  for (int k = 0; k < nz; ++k) least = std::min(least, height(k));
  return least;
}

Grid Grid::make(int nx, int nz, double lx, double lz, double stretching, bool periodic) {
  Grid grid{nx, nz, lx, lz, periodic, std::vector<double>(nz + 1)};
  for (int k = 0; k <= nz; ++k) {
    const double xi = static_cast<double>(k) / nz;
    grid.face[k] = stretching == 0.0
                       ? lz * xi
                       : 0.5 * lz * (1.0 + std::tanh(stretching * (2.0 * xi - 1.0)) / std::tanh(stretching));
  }
  grid.face[0] = 0.0;
  grid.face[nz] = lz;
  return grid;
}

Grid Grid::extruded(int count, double length) const {
  Grid out = *this;
  out.ny = count;
  out.ly = length;
  return out;
}

void require_rows(int nz, int ranks) {
  if (nz >= 2 * ranks) return;
  throw KeyError(
      "convection.cells.ranks", "cells",
      fmt::format("{} ranks cannot share {} rows of cells: every rank needs two; run on at most {} ranks or take "
                  "more cells along z",
                  ranks, nz, nz / 2));
}

Slab Slab::make(const Grid& grid, int rank, int ranks) {
  require_rows(grid.nz, ranks);
  Slab slab;
  slab.grid = grid;
  slab.rank = rank;
  slab.ranks = ranks;
  slab.first = begin(grid.nz, rank, ranks);
  slab.rows = begin(grid.nz, rank + 1, ranks) - slab.first;
  const int m = slab.rows;
  slab.height = View<double*>("height", m + 2);
  slab.inverse_height = View<double*>("inverse height", m + 2);
  slab.inverse_between = View<double*>("inverse between", m + 2);
  auto height = Kokkos::create_mirror_view(slab.height);
  auto inverse = Kokkos::create_mirror_view(slab.inverse_height);
  auto between = Kokkos::create_mirror_view(slab.inverse_between);
  for (int row = 0; row < m + 2; ++row) {
    const int k = std::clamp(slab.first + row - 1, 0, grid.nz - 1);  // a ghost row beyond a wall mirrors the one inside
    height(row) = grid.height(k);
    inverse(row) = 1.0 / grid.height(k);
    between(row) = 1.0 / grid.between(std::clamp(slab.first + row - 1, 0, grid.nz));
  }
  Kokkos::deep_copy(slab.height, height);
  Kokkos::deep_copy(slab.inverse_height, inverse);
  Kokkos::deep_copy(slab.inverse_between, between);
  return slab;
}

}  // namespace cambium::superres
