#pragma once
#include <span>
#include <string>
#include <vector>

#include "core/io/hdf5/h5.hpp"
#include "plugins/kinetic/fields/conf_ranks.hpp"

namespace cambium::kinetic {

/// Cells of a brick that follow each other in the whole grid, too: the first of them in the brick and in the whole.
struct CellRun {
  int own, whole, count;
};
std::vector<CellRun> runs_of(const ConfGrid& grid);

/// Collective: group/name gets `per_cell` numbers of each cell of the whole grid, one after the other, from the ranks
/// that have them; rank 0 alone writes, and holds its own and those of one other rank.
void write_cells(io::Group& group, const std::string& name, const ConfRanks& ranks, const ConfGrid& grid,
                 std::span<const double> own, int per_cell);
/// For such an array the numbers of this rank's cells; no others are read.
std::vector<double> read_cells(const io::Group& group, const std::string& name, const ConfGrid& grid, int per_cell);

}  // namespace cambium::kinetic
