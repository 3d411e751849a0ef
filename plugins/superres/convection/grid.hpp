#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/parallel/kokkos.hpp"

namespace cambium::superres {

/// Velocity boundary condition at a wall.
enum class Wall { no_slip, free_slip };
/// As decks and files name it.
inline const char* name_of(Wall wall) { return wall == Wall::no_slip ? "no_slip" : "free_slip"; }

/// Cells of a box: uniform along x and y, stretched along z. Staggered: u on the left face of a cell, v on its front
/// face, w on its lower face, b and p at its centre.
struct Grid {
  int nx = 0, nz = 0;
  double lx = 1.0, lz = 1.0;
  bool periodic = true;      ///< along x; false: side walls
  std::vector<double> face;  ///< z of the nz + 1 faces, face[0] = 0
  int ny = 0;                ///< cells along y, which is periodic; 0: a two-dimensional flow
  double ly = 0.0;
  bool spatial() const { return ny > 0; }
  int lines() const { return spatial() ? ny : 1; }  ///< along x, in one row of cells
  double dx() const { return lx / nx; }
  double dy() const { return ly / ny; }  ///< only in three dimensions
  double area() const { return spatial() ? lx * ly : lx; }
  std::int64_t cells() const { return std::int64_t{nx} * lines() * nz; }
  double center(int k) const { return 0.5 * (face[k] + face[k + 1]); }
  double height(int k) const { return face[k + 1] - face[k]; }
  /// Distance of the centres on both sides of face k; at a wall twice the distance to the wall.
  double between(int k) const;
  double least_height() const;

  /// Faces z = lz/2 (1 + tanh(s (2 k/nz - 1)) / tanh s); s = 0 gives cells of equal height.
  static Grid make(int nx, int nz, double lx, double lz, double stretching, bool periodic);
  /// The same cells repeated in ny lines over the period ly along y.
  Grid extruded(int ny, double ly) const;
};

/// The rows of cells of one rank (lines of cells, or planes of them in three dimensions) and their metrics on the
/// device, with one ghost row below (row 0) and above (row m+1).
struct Slab {
  Grid grid;
  int rank = 0, ranks = 1;
  bool share_memory = true;              ///< with ranks of the same node, instead of messages
  int first = 0, rows = 0;               ///< global index of the first owned row, owned rows m
  View<double*> height, inverse_height;  ///< of cells, rows 0..m+1
  View<double*> inverse_between;         ///< of lower faces, rows 0..m+1 (row m+1: the upper face of row m)
  bool bottom() const { return rank == 0; }
  bool top() const { return rank + 1 == ranks; }

  /// First row of the grid that rank r owns; the same partition as in checkpoints.
  static int begin(int nz, int r, int ranks) { return static_cast<int>(static_cast<long>(nz) * r / ranks); }
  /// Throws InputError when there are more ranks than pairs of rows.
  static Slab make(const Grid& grid, int rank, int ranks);
};

}  // namespace cambium::superres
