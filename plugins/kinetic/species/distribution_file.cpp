#include "plugins/kinetic/species/distribution_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <vector>

#include "core/base/counts.hpp"
#include "core/base/error.hpp"
#include "core/io/gather.hpp"
#include "core/parallel/agree.hpp"

namespace cambium::kinetic {
namespace {

/// Cells of configuration space of this rank, [first, first + count) of its own, that are contiguous in the global
/// grid: with all their velocities here, a block of the file's array.
struct CellRows {
  int first, count;
};

/// Rows of at most `most_bytes`, but at least one cell; with `slab`, none crosses a multiple of `slab` cells.
std::vector<CellRows> rows_of(const PhaseGrid& grid, int modes, std::int64_t most_bytes, std::int64_t slab = 0) {
  const std::int64_t bytes = std::int64_t{grid.local_velocity_cells()} * modes * 8;
  std::vector<CellRows> out;
  for (int cell = 0, before = -1; cell < grid.local_conf_cells(); ++cell) {
    const int whole = grid.conf_index(grid.local_conf(cell));
    if (out.empty() || whole != before + 1 || (slab > 0 && whole % slab == 0) ||
        (out.back().count + 1) * bytes > most_bytes)
      out.push_back({cell, 1});
    else
      ++out.back().count;
    before = whole;
  }
  return out;
}

/// Sorts rows by their position in the global grid.
std::vector<CellRows> sorted(std::vector<CellRows> rows, const PhaseGrid& grid) {
  const auto place = [&](const CellRows& r) { return grid.conf_index(grid.local_conf(r.first)); };
  std::sort(rows.begin(), rows.end(), [&](const CellRows& a, const CellRows& b) { return place(a) < place(b); });
  return rows;
}

/// Position of these rows in the file's array, and `data` in their shape.
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

std::string edges_name(int d) { return std::string("edges_v") + "xyz"[d]; }

/// InputError where a species was stored with other widths of the same number of velocity cells.
void require_same_widths(const io::Dataset& set, const std::string& name, const PhaseGrid& grid) {
  for (int d = 0; d < grid.vdim; ++d) {
    const auto found = stored_edges(set, d, grid.velocity(d).cells);
    const auto& own = grid.velocity(d).edges;
    bool same = found.size() == own.size();
    for (std::size_t k = 0; same && k < own.size(); ++k)
      same = std::abs(found[k] - own[k]) <= 1e-9 * grid.velocity(d).narrowest();
    if (!same)
      throw InputError(
          fmt::format("species '{}' was stored with other widths of the cells of velocity dimension {} than this deck "
                      "has; resume with the deck that wrote it, or begin another run with 'start_from'",
                      name, d + 1));
  }
}

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
  for (int d = 0; d < grid.vdim; ++d)
    if (grid.velocity(d).stretched()) object.set_attribute(edges_name(d), grid.velocity(d).edges);
}

std::vector<double> stored_edges(const io::Dataset& set, int d, int cells) {
  if (!set.has_attribute(edges_name(d))) return {};
  auto edges = set.attribute<std::vector<double>>(edges_name(d));
  bool ascending = std::ssize(edges) == cells + 1;
  for (std::size_t k = 1; ascending && k < edges.size(); ++k) ascending = edges[k] > edges[k - 1];
  if (!ascending)
    throw InputError(
        fmt::format("'{}': attribute '{}' does not hold the {} ascending faces of {} velocity cells; the "
                    "file is damaged or was changed, take another one",
                    set.file(), edges_name(d), cells + 1, cells));
  return edges;
}

namespace {

std::vector<std::int64_t> shape_of(const PhaseGrid& grid, int modes) {
  std::vector<std::int64_t> shape{grid.conf_cells()};
  for (int d = 0; d < grid.vdim; ++d) shape.push_back(grid.velocity(d).cells);
  shape.push_back(modes);
  return shape;
}

/// The expansions of a rank's cells, a piece at a time.
class OwnPieces {
 public:
  OwnPieces(const Solver& solver, std::vector<CellRows> pieces) : solver_(solver), pieces_(std::move(pieces)) {}

  bool next(io::Block& block, std::int64_t before) {
    const auto& grid = solver_.grid();
    const int modes = solver_.basis().modes, nv = grid.local_velocity_cells();
    if (at_ == pieces_.size()) return false;
    const CellRows& rows = pieces_[at_];
    if (grid.conf_index(grid.local_conf(rows.first)) >= before) return false;
    ++at_;
    data_.resize(at(std::int64_t{rows.count} * nv * modes));
    for (int c = 0; c < rows.count; ++c)
      for (int iv = 0; iv < nv; ++iv)
        solver_.get(0, rows.first + c, iv, &data_[at((std::int64_t{c} * nv + iv) * modes)]);
    block = block_of(grid, rows, modes, data_.data());
    return true;
  }

 private:
  const Solver& solver_;
  std::vector<CellRows> pieces_;
  std::vector<double> data_;
  std::size_t at_ = 0;
};

}  // namespace

void write_distribution(io::Group& group, const std::string& name, const Solver& solver, const Comm& comm) {
  const auto& grid = solver.grid();
  const int modes = solver.basis().modes;
  std::optional<io::Dataset> set;
  if (comm.root()) {
    set = group.allocate(name + "/f", DType::f64, shape_of(grid, modes));
    describe_grid(*set, grid, solver.basis());
  }
  OwnPieces pieces(solver, rows_of(grid, modes, piece_bytes));
  io::gather_blocks(
      comm, [&](io::Block& block) { return pieces.next(block, grid.conf_cells()); },
      [&](const io::Block& block) { set->write_block(block.start, block.values); });
}

std::int64_t cells_of_a_slab(const PhaseGrid& grid, int modes) {
  constexpr std::int64_t most_bytes = std::int64_t{1} << 26;
  const std::int64_t first = grid.axis[0].cells, row = grid.conf_cells() / first;
  std::int64_t velocities = 1;
  for (int d = 0; d < grid.vdim; ++d) velocities *= grid.velocity(d).cells;
  std::int64_t rows = std::max<std::int64_t>(1, most_bytes / (8 * row * velocities * modes));
  rows = std::min(rows, first);
  while (first % rows != 0) --rows;
  return rows * row;
}

void write_distribution(io::Group& group, const std::string& name, const Solver& solver, const Comm& comm,
                        const io::Compression& compress,
                        const std::function<void(std::int64_t, std::span<const double>)>& slab) {
  const auto& grid = solver.grid();
  const int modes = solver.basis().modes;
  const auto shape = shape_of(grid, modes);
  auto part = shape;
  part[0] = cells_of_a_slab(grid, modes);
  std::optional<io::Dataset> set;
  std::vector<double> values;
  if (comm.root()) {
    auto chunk = part;
    chunk.back() = 1;
    set = io::allocate(group, name + "/f", DType::f64, shape, chunk, compress);
    describe_grid(*set, grid, solver.basis());
    values.resize(std::accumulate(part.begin(), part.end(), std::size_t{1}, std::multiplies<>()));
  }
  OwnPieces pieces(solver, sorted(rows_of(grid, modes, piece_bytes, part[0]), grid));
  for (std::int64_t first = 0; first < shape[0]; first += part[0]) {
    io::gather_blocks(
        comm, [&](io::Block& block) { return pieces.next(block, first + part[0]); },
        [&](io::Block block) {
          block.start[0] -= first;
          place_block(block, part, values.data());
        });
    io::on_root(comm, [&] {
      slab(first, values);
      std::vector<std::int64_t> start(part.size(), 0);
      start[0] = first;
      io::Block whole{0, start, {}};
      TensorRef& t = whole.values;
      t = io::tensor_of(values.data(), {});
      for (const auto extent : part) t.shape[t.rank++] = extent;
      for (std::int64_t stride = 1, k = t.rank - 1; k >= 0; stride *= t.shape[k--]) t.stride[k] = stride;
      set->write_block(whole.start, t);
    });
  }
}

void place_block(const io::Block& block, std::span<const std::int64_t> shape, double* whole) {
  const TensorRef& t = block.values;
  const std::int64_t row = t.rank > 0 ? t.shape[t.rank - 1] : 1;
  const auto* from = static_cast<const double*>(t.data);
  for (std::int64_t k = 0; k < t.elements(); k += row) {
    std::int64_t to = 0, stride = 1, rest = k;
    for (int d = t.rank - 1; d >= 0; --d) {
      to += (block.start[d] + rest % t.shape[d]) * stride;
      rest /= t.shape[d];
      stride *= shape[d];
    }
    std::copy_n(from + k, row, whole + to);
  }
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
  require_same_widths(set, name, grid);
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
