#pragma once
#include <cmath>
#include <cstdint>

#include "core/parallel/comm.hpp"
#include "core/parallel/kokkos.hpp"

namespace cambium::cosmo {

/// Into 0 <= x < box.
KOKKOS_INLINE_FUNCTION double wrapped(double x, double box) {
  const double y = x - box * std::floor(x / box);
  return y < box && y >= 0.0 ? y : 0.0;
}

/// Particles as cubes of one cell's size (R. Hockney and J. Eastwood, 1988, chapter 5). Weights are whole numbers of
/// 2^-36: the eight of a particle add up to 1 exactly, sums do not depend on their order or on the ranks, and the same
/// weights carry forces back, so that the forces of a mesh on all particles add up to what they are on the mesh.
struct Cloud {
  static constexpr int bits = 36;  ///< up to 2^27 particles may meet in a cell
  static constexpr std::int64_t one = std::int64_t{1} << bits;

  int cell[8];
  std::int64_t weight[8];

  /// At a place in units of cells; cell j holds the points around the place j.
  KOKKOS_INLINE_FUNCTION Cloud(const double* place, int n) {
    int low[3];
    double part[3];
    for (int d = 0; d < 3; ++d) {
      const double floor = std::floor(place[d]);
      part[d] = place[d] - floor;
      low[d] = static_cast<int>(floor) % n;
      if (low[d] < 0) low[d] += n;
    }
    std::int64_t left = one;
    for (int corner = 0; corner < 8; ++corner) {
      double w = static_cast<double>(one);
      int at = 0;
      for (int d = 0; d < 3; ++d) {
        const int up = corner >> d & 1, here = low[d] + up;
        w *= up ? part[d] : 1.0 - part[d];
        at = at * n + (here == n ? 0 : here);
      }
      cell[corner] = at;
      weight[corner] = corner < 7 ? static_cast<std::int64_t>(w + 0.5) : left;
      left -= weight[corner];
    }
  }
};

/// Collective: particles in each of n^3 cells of an edge `box`/n, in units of 2^-36; cell (x n + y) n + z lies around
/// (x, y, z) box / n. `positions`: (own particles, 3), 0 <= x < box. The same numbers on every rank, whatever their
/// count.
void assign_clouds(const View<const double**>& positions, double box, int n, const View<std::int64_t*>& mass,
                   const Comm& comm);

/// What assign_clouds() counted over the mean of all cells, minus one.
void contrast(const View<const std::int64_t*>& mass, std::int64_t particles, const View<double*>& delta);

/// Column `axis` of `to` (own particles, 3): a field of the mesh at the particles.
void interpolate(const View<const double*>& field, int n, const View<const double**>& positions, double box, int axis,
                 const View<double**>& to);

}  // namespace cambium::cosmo
