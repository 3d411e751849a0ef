#pragma once
#include <array>
#include <vector>

#include "plugins/kinetic/solver/phase_grid.hpp"

namespace cambium::kinetic {

/// Configuration-space grid of moments and fields, and this rank's brick of it, by default all of it. Cell i of the
/// brick, row-major, has coefficients at [i * modes, ...). Cells of other ranks that touch the brick are numbered after
/// its own: see ghosts().
struct ConfGrid {
  int dimensions = 1;
  std::array<int, 3> cells{1, 1, 1};                 ///< of the global grid
  std::array<int, 3> first{0, 0, 0}, part{0, 0, 0};  ///< of this rank; a part of 0 is the full dimension
  std::array<double, 3> lower{0, 0, 0}, width{1, 1, 1};
  std::array<Wall, 3> low_wall{}, high_wall{};
  std::vector<std::vector<int>> exponents;  ///< [mode][dimension]

  int own(int d) const { return part[d] ? part[d] : cells[d]; }
  bool divided(int d) const { return own(d) < cells[d]; }
  int count() const { return own(0) * own(1) * own(2); }  ///< of this rank
  int whole_count() const { return cells[0] * cells[1] * cells[2]; }
  /// The same grid without decomposition.
  ConfGrid whole() const;
  int modes() const { return static_cast<int>(exponents.size()); }
  std::size_t size() const { return static_cast<std::size_t>(count()) * exponents.size(); }
  int highest() const;
  /// Global indices of a cell of this rank.
  std::array<int, 3> place(int cell) const {
    const auto at = local(cell);
    return {first[0] + at[0], first[1] + at[1], first[2] + at[2]};
  }
  /// Index in the global grid, and among the cells of this rank: -1 if another rank owns the cell.
  int index(const std::array<int, 3>& at) const { return (at[0] * cells[1] + at[1]) * cells[2] + at[2]; }
  int own_index(const std::array<int, 3>& at) const;
  /// Neighbour in dimension d, through periodic ends; -1 beyond a wall. An index of count() or more is that of a ghost.
  int neighbour(int cell, int d, int step) const;
  /// Number of cells on one side of the brick; index of the first ghost beyond the lower or upper side of a decomposed
  /// dimension; number of ghosts.
  int face(int d) const { return count() / own(d); }
  int first_ghost(int d, bool high) const;
  int ghosts() const;
  /// Cells of this rank on one side, in the order in which neighbours number them as ghosts.
  std::vector<int> side(int d, bool high) const;
  double cell_volume() const { return width[0] * width[1] * width[2]; }
  /// Integral over the cells of this rank of the expansion / of the product of two.
  double integral(const double* a) const;
  double product_integral(const double* a, const double* b) const;

 private:
  /// Indices in the brick.
  std::array<int, 3> local(int cell) const {
    const int y = own(1), z = own(2);
    return {cell / (y * z), cell / z % y, cell % z};
  }
};

ConfGrid conf_grid(const PhaseGrid& phase, const std::vector<std::vector<int>>& exponents);

/// A sparse matrix.
struct SparseMatrix {
  struct Entry {
    int row, column;
    double value;
  };
  std::vector<Entry> entries;
  /// out += factor * M in.
  void add(double factor, const double* in, double* out) const {
    for (const auto& e : entries) out[e.row] += factor * e.value * in[e.column];
  }
};

}  // namespace cambium::kinetic
