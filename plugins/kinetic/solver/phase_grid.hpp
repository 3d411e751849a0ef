#pragma once
#include <array>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/parallel/comm.hpp"

namespace cambium::kinetic {

/// Boundary condition of particles at an end of a configuration-space dimension.
enum class Wall { periodic, reflect, absorb, copy };

/// One dimension of the phase-space grid, decomposed over ranks. Velocity dimensions end in walls without flux.
struct Axis {
  double lower = 0.0, upper = 1.0;
  int cells = 1;
  Wall low_wall = Wall::periodic, high_wall = Wall::periodic;
  int ranks = 1, place = 0;           ///< along this dimension
  int first = 0, count = 1;           ///< cells of this rank
  int low_rank = -1, high_rank = -1;  ///< neighbours, -1 at a wall; a rank alone on a periodic axis is its own

  /// Faces of the cells, ascending, cells + 1 of them; empty where all cells have the same width. Velocities only.
  std::vector<double> edges;

  bool stretched() const { return !edges.empty(); }
  /// Of every cell; std::logic_error where cells differ, since no one width is right then.
  double width() const {
    if (stretched()) throw std::logic_error("a dimension of phase space has cells of different widths");
    return (upper - lower) / cells;
  }
  double width(int cell) const { return stretched() ? edges[cell + 1] - edges[cell] : width(); }
  double centre(int cell) const {
    return stretched() ? 0.5 * (edges[cell] + edges[cell + 1]) : lower + (cell + 0.5) * width();
  }
  double narrowest() const;
  /// True if cell k is the mirror image of cell cells - 1 - k at 0.
  bool symmetric() const;
};

/// The grid of one species. Axes: configuration space, then velocity space.
struct PhaseGrid {
  int cdim = 1, vdim = 1;
  std::array<Axis, 6> axis;

  const Axis& conf(int d) const { return axis[d]; }
  const Axis& velocity(int d) const { return axis[cdim + d]; }
  /// True if a velocity dimension has cells of different widths.
  bool stretched() const;
  int dimensions() const { return cdim + vdim; }
  /// Configuration-space cells in all, and of this rank; row-major, the last dimension fastest.
  int conf_cells() const;
  int local_conf_cells() const;
  int local_velocity_cells() const;
  std::int64_t cells() const;
  /// Global index of this rank's conf cell with these local indices.
  int conf_index(const std::array<int, 3>& local) const;
  std::array<int, 3> local_conf(int index) const;      ///< indices of the k-th local conf cell
  std::array<int, 3> local_velocity(int index) const;  ///< of the k-th local velocity cell
  double velocity_volume(int index) const;             ///< product of the widths of the k-th local velocity cell
};

/// Ranks along each dimension of the grids of all species: the same of configuration space, so that a rank has the
/// moments of all species in its cells; velocity space is cut where configuration space has few cells.
std::vector<std::vector<int>> cuts_of(const std::vector<PhaseGrid>& grids, int ranks);

/// Sets an axis to piece `place` of `ranks` pieces.
void cut(Axis& axis, int ranks, int place);

/// Cuts the grid among the ranks of `comm`. `given` names the ranks of each dimension; without it configuration space
/// is cut first, then velocity space. InputError when the product does not fit or a piece would be empty.
void decompose(PhaseGrid& grid, const Comm& comm, const std::vector<int>& given);

/// decompose() for one of `ranks` ranks that need not be there. InputError as that.
void decompose(PhaseGrid& grid, int rank, int ranks, const std::vector<int>& given);

}  // namespace cambium::kinetic
