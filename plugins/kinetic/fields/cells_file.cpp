#include "plugins/kinetic/fields/cells_file.hpp"

#include <array>
#include <optional>

#include "core/base/counts.hpp"
#include "core/io/gather.hpp"

namespace cambium::kinetic {

std::vector<CellRun> runs_of(const ConfGrid& grid) {
  std::vector<CellRun> out;
  for (int cell = 0; cell < grid.count(); ++cell) {
    const int whole = grid.index(grid.place(cell));
    if (!out.empty() && out.back().whole + out.back().count == whole)
      ++out.back().count;
    else
      out.push_back({cell, whole, 1});
  }
  return out;
}

void write_cells(io::Group& group, const std::string& name, const ConfRanks& ranks, const ConfGrid& grid,
                 std::span<const double> own, int per_cell) {
  std::optional<io::Dataset> array;
  const std::int64_t size = std::int64_t{grid.whole_count()} * per_cell;
  if (ranks.all().root()) array = group.allocate(name, DType::f64, std::array{size});
  const auto runs = ranks.column().root() ? runs_of(grid) : std::vector<CellRun>();
  std::size_t next = 0;
  io::gather_blocks(
      ranks.all(),
      [&](io::Block& block) {
        if (next == runs.size()) return false;
        const CellRun& run = runs[next++];
        block.start = {std::int64_t{run.whole} * per_cell};
        block.values =
            io::tensor_of(own.subspan(at(std::int64_t{run.own} * per_cell), at(std::int64_t{run.count} * per_cell)));
        return true;
      },
      [&](const io::Block& block) { array->write_block(block.start, block.values); });
}

std::vector<double> read_cells(const io::Group& group, const std::string& name, const ConfGrid& grid, int per_cell) {
  std::vector<double> out(at(std::int64_t{grid.count()} * per_cell));
  const io::Dataset array = group.dataset(name);
  for (const auto& run : runs_of(grid)) {
    const std::int64_t start = std::int64_t{run.whole} * per_cell;
    TensorRef part = io::tensor_of(&out[at(std::int64_t{run.own} * per_cell)], {std::int64_t{run.count} * per_cell});
    part.is_const = false;
    array.read_block(std::array{start}, part);
  }
  return out;
}

}  // namespace cambium::kinetic
