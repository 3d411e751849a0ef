#include "plugins/kinetic/species/distribution_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <vector>

#include "core/base/counts.hpp"
#include "core/base/error.hpp"
#include "core/io/gather.hpp"

namespace cambium::kinetic {
namespace {

/// Cells of configuration space of this rank, [first, first + count) of its own, that follow each other in the whole
/// grid: with all their velocities here, a block of the file's array.
struct CellRows {
  int first, count;
};

/// Of at most `most_bytes`, one cell at least.
std::vector<CellRows> rows_of(const PhaseGrid& grid, int modes, std::int64_t most_bytes) {
  const std::int64_t bytes = std::int64_t{grid.local_velocity_cells()} * modes * 8;
  std::vector<CellRows> out;
  for (int cell = 0, before = -1; cell < grid.local_conf_cells(); ++cell) {
    const int whole = grid.conf_index(grid.local_conf(cell));
    if (out.empty() || whole != before + 1 || (out.back().count + 1) * bytes > most_bytes)
      out.push_back({cell, 1});
    else
      ++out.back().count;
    before = whole;
  }
  return out;
}

/// Where these rows begin in the file's array, and `data` in their shape.
io::Block block_of(const PhaseGrid& grid, const CellRows& rows, int modes, double* data) {
  io::Block block{0, {grid.conf_index(grid.local_conf(rows.first))}, {}};
  std::vector<std::int64_t> shape{rows.count};
  for (int d = 0; d < grid.vdim; ++d) {
    block.start.push_back(grid.velocity(d).first);
    shape.push_back(grid.velocity(d).count);
  }
  block.start.push_back(0);
  shape.push_back(modes);
  TensorRef& t = block.values;
  t.data = data;
  t.rank = static_cast<int>(shape.size());
  std::int64_t stride = 1;
  for (int k = t.rank - 1; k >= 0; --k) {
    t.shape[k] = shape[k];
    t.stride[k] = stride;
    stride *= shape[k];
  }
  return block;
}

constexpr std::int64_t piece_bytes = std::int64_t{1} << 22;

}  // namespace

void describe_grid(io::Object& object, const PhaseGrid& grid, const BasisInfo& basis) {
  std::vector<double> lower, upper;
  std::vector<int> cells, exponents;
  for (int d = 0; d < grid.dimensions(); ++d) {
    lower.push_back(grid.axis[d].lower);
    upper.push_back(grid.axis[d].upper);
    cells.push_back(grid.axis[d].cells);
  }
  for (const auto& e : basis.exponents) exponents.insert(exponents.end(), e.begin(), e.end());
  object.set_attribute("cdim", grid.cdim);
  object.set_attribute("vdim", grid.vdim);
  object.set_attribute("lower", lower);
  object.set_attribute("upper", upper);
  object.set_attribute("cells", cells);
  object.set_attribute("basis", basis.name);
  object.set_attribute("exponents", exponents);
}

void write_distribution(io::Group& group, const std::string& name, const Solver& solver, const Comm& comm) {
  const auto& grid = solver.grid();
  const int modes = solver.basis().modes, nv = grid.local_velocity_cells();
  std::vector<std::int64_t> shape{grid.conf_cells()};
  for (int d = 0; d < grid.vdim; ++d) shape.push_back(grid.velocity(d).cells);
  shape.push_back(modes);
  std::optional<io::Dataset> set;
  if (comm.root()) {
    set = group.allocate(name + "/f", DType::f64, shape);
    describe_grid(*set, grid, solver.basis());
  }
  const auto pieces = rows_of(grid, modes, piece_bytes);
  std::vector<double> data;
  std::size_t next = 0;
  io::gather_blocks(
      comm,
      [&](io::Block& block) {
        if (next == pieces.size()) return false;
        const CellRows& rows = pieces[next++];
        data.resize(at(std::int64_t{rows.count} * nv * modes));
        for (int c = 0; c < rows.count; ++c)
          for (int iv = 0; iv < nv; ++iv)
            solver.get(0, rows.first + c, iv, &data[at((std::int64_t{c} * nv + iv) * modes)]);
        block = block_of(grid, rows, modes, data.data());
        return true;
      },
      [&](const io::Block& block) { set->write_block(block.start, block.values); });
}

void read_distribution(const io::Group& group, const std::string& name, Solver& solver) {
  const auto& grid = solver.grid();
  const int modes = solver.basis().modes, nv = grid.local_velocity_cells();
  const io::Dataset set = group.dataset(name + "/f");
  std::vector<int> cells;
  for (int d = 0; d < grid.dimensions(); ++d) cells.push_back(grid.axis[d].cells);
  const auto found = set.attribute<std::vector<int>>("cells");
  const auto basis = set.attribute<std::string>("basis");
  if (found != cells || basis != solver.basis().name)
    throw InputError(
        fmt::format("species '{}' was stored on [{}] cells with basis {}, this deck has [{}] with {}; resume with the "
                    "deck that wrote it, or begin another run with 'start_from'",
                    name, fmt::join(found, ", "), basis, fmt::join(cells, ", "), solver.basis().name));
  std::vector<double> data;
  for (const CellRows& rows : rows_of(grid, modes, piece_bytes)) {
    data.resize(at(std::int64_t{rows.count} * nv * modes));
    const io::Block block = block_of(grid, rows, modes, data.data());
    set.read_block(block.start, block.values);
    for (int c = 0; c < rows.count; ++c)
      for (int iv = 0; iv < nv; ++iv) solver.set(0, rows.first + c, iv, &data[at((std::int64_t{c} * nv + iv) * modes)]);
  }
}

}  // namespace cambium::kinetic
