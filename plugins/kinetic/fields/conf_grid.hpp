#pragma once
#include <array>
#include <vector>

#include "plugins/kinetic/solver/phase_grid.hpp"

namespace cambium::kinetic {

/// Configuration space as the fields see it: the whole grid, on every rank. Cell i has coefficients at [i * modes,
/// ...).
struct ConfGrid {
  int dimensions = 1;
  std::array<int, 3> cells{1, 1, 1};
  std::array<double, 3> lower{0, 0, 0}, width{1, 1, 1};
  std::array<Wall, 3> low_wall{}, high_wall{};
  std::vector<std::vector<int>> exponents;  ///< [mode][dimension]

  int count() const { return cells[0] * cells[1] * cells[2]; }
  int modes() const { return static_cast<int>(exponents.size()); }
  std::size_t size() const { return static_cast<std::size_t>(count()) * exponents.size(); }
  int highest() const;
  std::array<int, 3> place(int cell) const {
    return {cell / (cells[1] * cells[2]), cell / cells[2] % cells[1], cell % cells[2]};
  }
  int index(const std::array<int, 3>& at) const { return (at[0] * cells[1] + at[1]) * cells[2] + at[2]; }
  /// Neighbour in dimension d, through periodic ends; -1 beyond a wall.
  int neighbour(int cell, int d, int step) const;
  double cell_volume() const { return width[0] * width[1] * width[2]; }
  /// Integral over all cells of the expansion / of the product of two.
  double integral(const double* a) const;
  double product_integral(const double* a, const double* b) const;
};

ConfGrid conf_grid(const PhaseGrid& phase, const std::vector<std::vector<int>>& exponents);

/// A matrix with few entries.
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
