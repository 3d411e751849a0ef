#pragma once
#include "plugins/superres/convection/grid.hpp"
#include "plugins/superres/convection/rows.hpp"

namespace cambium::superres {

/// Columns of a stored row: one line of cells along x or, in three dimensions, those of all y one after the other, with
/// a ghost line in front of them and one behind. Every line has its own ghost columns, so that a cell's neighbours
/// along y are a fixed number of columns away and sweeps along z take a row as one line.
struct RowLayout {
  int nx, lines, pitch;
  bool spatial;

  static RowLayout of(const Grid& grid) { return {grid.nx, grid.lines(), pitch_of(grid.nx), grid.spatial()}; }
  /// Of a stored row.
  int columns() const { return (lines + (spatial ? 2 : 0)) * pitch; }
  /// Column of the first cell of a line.
  KOKKOS_INLINE_FUNCTION int begin(int line) const { return (spatial ? line + 1 : 0) * pitch + margin; }
  /// From the first cell of the first line to behind the last cell of the last line; ghosts lie between the lines.
  int span() const { return (lines - 1) * pitch + nx; }
};

/// Calls body(row, column) for the packs of all cells of rows first..last-1, `column` being that of the stored row.
template <class Body>
void for_cells(const std::string& name, int first, int last, const RowLayout& layout, const Body& body) {
  const int lines = layout.lines;
  if (!layout.spatial)
    for_rows(
        name, first, last, layout.nx, KOKKOS_LAMBDA(int row, int column) { body(row, margin + column); });
  else
    for_rows(
        name, first * lines, last * lines, layout.nx,
        KOKKOS_LAMBDA(int row, int column) { body(row / lines, layout.begin(row % lines) + column); });
}

}  // namespace cambium::superres
