#pragma once
#include <cmath>
#include <cstdint>

#include "core/parallel/comm.hpp"
#include "core/parallel/kokkos.hpp"

namespace cambium::cosmo {

/// Wraps x into 0 <= x < box.
KOKKOS_INLINE_FUNCTION double wrapped(double x, double box) {
  const double y = x - box * std::floor(x / box);
  return y < box && y >= 0.0 ? y : 0.0;
}

/// Assignment scheme of particles to cells (R. Hockney and J. Eastwood, Computer Simulation Using Particles, 1988,
/// chapter 5): the two nearest along each axis in proportion (cloud in cell), or three by parabolas (triangular-shaped
/// cloud).
enum class Clouds : int { cloud_in_cell = 2, triangular = 3 };

/// Particles are counted in integer multiples of 2^-36: the weights of a particle add up to 1 exactly, sums do not
/// depend on their order or on the ranks, and forces are interpolated with the same weights, so that the total force of
/// the mesh on all particles equals that on the mesh. Up to 2^27 particles may meet in a cell.
inline constexpr std::int64_t whole_particle = std::int64_t{1} << 36;

/// Weights along one axis for a position in units of cells; cell j is centred at j. Order: number of cells.
template <int Order>
struct AxisWeights {
  int low;  ///< first cell, not wrapped
  double weight[Order];

  KOKKOS_INLINE_FUNCTION explicit AxisWeights(double place) {
    if constexpr (Order == 2) {
      const double floor = std::floor(place), part = place - floor;
      low = static_cast<int>(floor);
      weight[0] = 1.0 - part;
      weight[1] = part;
    } else {
      const double near = std::floor(place + 0.5), off = place - near;
      low = static_cast<int>(near) - 1;
      weight[0] = 0.5 * (0.5 - off) * (0.5 - off);
      weight[1] = 0.75 - off * off;
      weight[2] = 0.5 * (0.5 + off) * (0.5 + off);
    }
  }
};

/// Cells that a particle is assigned to, and its weight in each.
template <int Order>
struct Cloud {
  static constexpr int size = Order * Order * Order;
  int cell[size];
  std::int64_t weight[size];

  KOKKOS_INLINE_FUNCTION Cloud(const double* place, int n) {
    const AxisWeights<Order> axis[3] = {AxisWeights<Order>(place[0]), AxisWeights<Order>(place[1]),
                                        AxisWeights<Order>(place[2])};
    std::int64_t left = whole_particle;
    int k = 0;
    for (int x = 0; x < Order; ++x)
      for (int y = 0; y < Order; ++y)
        for (int z = 0; z < Order; ++z, ++k) {
          cell[k] = (inside(axis[0].low + x, n) * n + inside(axis[1].low + y, n)) * n + inside(axis[2].low + z, n);
          const double share = axis[0].weight[x] * axis[1].weight[y] * axis[2].weight[z];
          weight[k] =
              k < size - 1 ? static_cast<std::int64_t>(share * static_cast<double>(whole_particle) + 0.5) : left;
          left -= weight[k];
        }
  }

 private:
  KOKKOS_INLINE_FUNCTION static int inside(int cell, int n) { return cell < 0 ? cell + n : cell < n ? cell : cell - n; }
};

/// Collective: particles in each of n^3 cells of edge `box`/n, in units of 2^-36; cell (x n + y) n + z is centred at
/// (x, y, z) box / n. `positions`: (own particles, 3), 0 <= x < box. Bitwise identical on every rank, whatever their
/// count.
/// count.
void assign_clouds(Clouds clouds, const View<const double**>& positions, double box, int n,
                   const View<std::int64_t*>& mass, const Comm& comm);

/// Count of assign_clouds() over the mean of all cells, minus one.
void contrast(const View<const std::int64_t*>& mass, std::int64_t particles, const View<double*>& delta);

/// Vector field on the mesh.
struct VectorField {
  View<double*> component[3];
};

/// `to` (own particles, 3): a field of the mesh at the particles.
void interpolate(Clouds clouds, const VectorField& field, int n, const View<const double**>& positions, double box,
                 const View<double**>& to);

/// Fourier transform of a cloud along one axis, sinc^order(x) at x = k h / 2.
inline double cloud_shape(Clouds clouds, double x) {
  return x == 0.0 ? 1.0 : std::pow(std::sin(x) / x, static_cast<int>(clouds));
}

}  // namespace cambium::cosmo
