#include "plugins/kinetic/fields/plane_poisson.hpp"

#include <algorithm>
#include <set>

#include "core/base/counts.hpp"

namespace cambium::kinetic {

using Complex = std::complex<double>;

/// Complex values viewed as pairs of real ones, which is their layout in memory.
static std::span<const double> pairs(const std::vector<Complex>& z) {
  return {reinterpret_cast<const double*>(z.data()), 2 * z.size()};
}
static std::vector<Complex> from_pairs(const std::vector<double>& x) {
  std::vector<Complex> out(x.size() / 2);
  for (std::size_t k = 0; k < out.size(); ++k) out[k] = {x[2 * k], x[2 * k + 1]};
  return out;
}

PlanePoisson::PlanePoisson(const ConfGrid& grid, const Element& element, const ConfRanks& ranks)
    : grid_(grid), element_(element), ranks_(ranks), along_x_(grid.cells[0]), along_y_(grid.cells[1]),
      rows_(strip(grid.cells[0], ranks.row().rank(), ranks.row().size())),
      columns_(strip(grid.cells[1], ranks.row().rank(), ranks.row().size())),
      loads_to_rows_(exchange([this](int rank) { return own_of(ranks_.brick(rank)); },
                              [this](int rank) { return rows_of(rank, true); })),
      rows_to_columns_(
          exchange([this](int rank) { return rows_of(rank, false); }, [this](int rank) { return columns_of(rank); })),
      columns_to_rows_(
          exchange([this](int rank) { return columns_of(rank); }, [this](int rank) { return rows_of(rank, false); })),
      rows_to_nodes_(exchange([this](int rank) { return rows_of(rank, false); },
                              [this](int rank) { return nodes_of(ranks_.brick(rank)); })) {
  for (int x = 0; x < grid_.cells[0]; ++x)
    for (int y = columns_.first; y < columns_.end; ++y) inverse_.push_back(inverse_of_wave(grid_, element_, {x, y, 0}));
  const auto nodes = nodes_of(grid_);
  for (int cell = 0; cell < grid_.count(); ++cell)
    for (const auto& node : element_.nodes) {
      const auto found = std::lower_bound(nodes.begin(), nodes.end(), owner(grid_.place(cell), node));
      node_.push_back(static_cast<int>(found - nodes.begin()) * element_.kinds + node.kind);
    }
}

CellExchange PlanePoisson::exchange(const CellExchange::CellsOf& has, const CellExchange::CellsOf& wants) const {
  return {ranks_.row(), grid_.whole_count(), has, wants};
}

/// Number of the cell whose node of that kind a cell's node is.
int PlanePoisson::owner(std::array<int, 3> cell, const Element::Node& node) const {
  for (int d = 0; d < 2; ++d) cell[at(d)] = (cell[at(d)] + node.shift[at(d)]) % grid_.cells[at(d)];
  return grid_.index(cell);
}

std::vector<int> PlanePoisson::own_of(const ConfGrid& brick) const {
  std::vector<int> out;
  for (int cell = 0; cell < brick.count(); ++cell) out.push_back(grid_.index(brick.place(cell)));
  return out;
}

/// Cells of the rows of a rank; and of the row below, whose upper nodes are theirs.
std::vector<int> PlanePoisson::rows_of(int rank, bool and_below) const {
  const int nx = grid_.cells[0], ny = grid_.cells[1];
  const Strip rows = strip(nx, rank, ranks_.row().size());
  std::set<int> places;
  for (int x = rows.first; x < rows.end; ++x) {
    places.insert(x);
    if (and_below) places.insert((x + nx - 1) % nx);
  }
  std::vector<int> out;
  for (const int x : places)
    for (int y = 0; y < ny; ++y) out.push_back(x * ny + y);
  return out;
}

std::vector<int> PlanePoisson::columns_of(int rank) const {
  const Strip columns = strip(grid_.cells[1], rank, ranks_.row().size());
  std::vector<int> out;
  for (int x = 0; x < grid_.cells[0]; ++x)
    for (int y = columns.first; y < columns.end; ++y) out.push_back(x * grid_.cells[1] + y);
  return out;
}

/// Cells that have the nodes of a brick.
std::vector<int> PlanePoisson::nodes_of(const ConfGrid& brick) const {
  std::set<int> out;
  for (int cell = 0; cell < brick.count(); ++cell)
    for (const auto& node : element_.nodes) out.insert(owner(brick.place(cell), node));
  return {out.begin(), out.end()};
}

/// Loads of the nodes of own rows, [x][y][kind], added in the order of the cells.
std::vector<Complex> PlanePoisson::summed(std::span<const double> loads) const {
  const int ny = grid_.cells[1], kinds = element_.kinds, local = static_cast<int>(element_.nodes.size());
  const auto values = loads_to_rows_(loads, local);
  std::vector<Complex> out(at(rows_.size()) * at(ny * kinds));
  auto value = values.begin();
  for (const int cell : rows_of(ranks_.row().rank(), true))
    for (const auto& node : element_.nodes) {
      const int own = owner({cell / ny, cell % ny, 0}, node) - rows_.first * ny;
      const double load = *value++;
      if (own >= 0 && own < rows_.size() * ny) out[at(own * kinds + node.kind)] += load;
    }
  return out;
}

/// Waves along y of own columns, [x][y][kind]: transformed along x, solved for, and back.
void PlanePoisson::solve_columns(std::vector<Complex>& waves) const {
  const int kinds = element_.kinds, across = columns_.size() * kinds;
  std::vector<Complex> in(at(kinds));
  if (across) along_x_(waves.data(), across, across, -1);
  for (std::size_t w = 0; w < inverse_.size(); ++w) {
    Complex* wave = &waves[w * at(kinds)];
    std::copy_n(wave, kinds, in.begin());
    for (int a = 0; a < kinds; ++a) {
      wave[a] = 0.0;
      for (int b = 0; b < kinds; ++b)
        wave[a] += inverse_[w][at(a * kinds + b)] * in[at(b)] / double(grid_.whole_count());
    }
  }
  if (across) along_x_(waves.data(), across, across, 1);
}

std::vector<double> PlanePoisson::solve(std::span<const double> loads) const {
  const int kinds = element_.kinds, ny = grid_.cells[1];
  auto rows = summed(loads);
  const auto along_y = [&](int sign) {
    for (int x = 0; x < rows_.size(); ++x) along_y_(&rows[at(x * ny * kinds)], kinds, kinds, sign);
  };
  along_y(-1);
  auto columns = from_pairs(rows_to_columns_(pairs(rows), 2 * kinds));
  solve_columns(columns);
  rows = from_pairs(columns_to_rows_(pairs(columns), 2 * kinds));
  along_y(1);
  std::vector<double> potential, out;
  for (const auto& z : rows) potential.push_back(z.real());
  const auto at_nodes = rows_to_nodes_(potential, kinds);
  for (const int k : node_) out.push_back(at_nodes[at(k)]);
  return out;
}

}  // namespace cambium::kinetic
