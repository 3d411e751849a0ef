#pragma once
#include <span>
#include <string>
#include <vector>

#include "core/io/hdf5/h5.hpp"
#include "plugins/kinetic/fields/conf_ranks.hpp"

namespace cambium::kinetic {

/// Cells of a brick that are contiguous in the global grid, too: index of the first in the brick and in the global
/// grid.
struct CellRun {
  int own, whole, count;
};
std::vector<CellRun> runs_of(const ConfGrid& grid);

/// Collective: writes `per_cell` values of each cell of the global grid to group/name, cell by cell, from the ranks
/// that own them; only rank 0 writes, and holds its own and those of one other rank.
void write_cells(io::Group& group, const std::string& name, const ConfRanks& ranks, const ConfGrid& grid,
                 std::span<const double> own, int per_cell);
/// Reads this rank's cells of such an array, and no others.
std::vector<double> read_cells(const io::Group& group, const std::string& name, const ConfGrid& grid, int per_cell);

}  // namespace cambium::kinetic
