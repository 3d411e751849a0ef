#pragma once
#include "plugins/superres/convection/grid.hpp"
#include "plugins/superres/convection/rows.hpp"

namespace cambium::superres {

/// Columns of a stored row: one line of cells along x or, in three dimensions, the lines of all y one after the other,
/// with a ghost line before and after them. Every line has its own ghost columns, so that a cell's neighbours along y
/// are a fixed number of columns away and sweeps along z treat a row as one line. The columns after a line are those
/// before the next.
struct RowLayout {
  int nx, lines, pitch;
  bool spatial;

  static RowLayout of(const Grid& grid) { return {grid.nx, grid.lines(), margin + padded(grid.nx), grid.spatial()}; }
  /// Number of columns of a stored row.
  int columns() const { return (lines + (spatial ? 2 : 0)) * pitch + 8; }
  /// Column of the first cell of a line.
  KOKKOS_INLINE_FUNCTION int begin(int line) const { return (spatial ? line + 1 : 0) * pitch + margin; }
  /// From the first cell of the first line to one past the last cell of the last line; ghosts are between the lines.
  int span() const { return (lines - 1) * pitch + nx; }
};

/// Blocks of cells of a row, lines first..last-1 and columns from..to-1 of each, that a host thread processes through
/// many rows: sized so that the three rows of all fields that it reads fit into its cache.
struct Blocks {
  RowLayout layout;
  int count;

  /// Blocks for this number of host threads.
  static Blocks of(const RowLayout& layout, int threads) {
    constexpr int room = 2560;  // columns
    const int units = layout.spatial ? layout.lines : padded(layout.nx) / 8, each = layout.spatial ? layout.pitch : 8,
              most = room / each > 2 ? room / each : 2, least = (units + most - 1) / most,
              shared = (least + threads - 1) / threads * threads;
    return {layout, shared < units ? shared : units};
  }
  KOKKOS_INLINE_FUNCTION int begin(int n) const {
    const int units = layout.spatial ? layout.lines : padded(layout.nx) / 8;
    return static_cast<int>(static_cast<std::int64_t>(units) * n / count);
  }
};

/// One of the blocks.
struct Block {
  RowLayout layout;
  int first, last;  ///< lines or, in two dimensions, eights of columns

  KOKKOS_INLINE_FUNCTION Block(const Blocks& blocks, int n)
      : layout(blocks.layout), first(blocks.begin(n)), last(blocks.begin(n + 1)) {}
  /// Calls body(column) for its packs.
  template <class Body>
  KOKKOS_INLINE_FUNCTION void each(const Body& body) const {
    if (!layout.spatial) {
      for (int i = 8 * first; i < 8 * last && i < layout.nx; i += lanes) body(margin + i);
      return;
    }
    for (int line = first; line < last; ++line)
      for (int i = 0; i < layout.nx; i += lanes) body(layout.begin(line) + i);
  }
};

/// Calls body(row, block) for rows first..last-1, ascending or descending, block by block: a row finds the results of
/// the previous row in its block. For kernels on the host.
template <class Body>
void for_blocks(const std::string& name, int first, int last, bool down, const RowLayout& layout, const Body& body) {
  const Blocks blocks = Blocks::of(layout, host_threads());
  Kokkos::parallel_for(
      name, Range(0, blocks.count), KOKKOS_LAMBDA(int n) {
        const Block block(blocks, n);
        for (int step = 0; step < last - first; ++step) body(down ? last - 1 - step : first + step, block);
      });
}

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
