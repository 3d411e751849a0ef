#include "plugins/submatrix/matrices/cell_matrices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/counts.hpp"
#include "core/base/error.hpp"
#include "core/parallel/memory.hpp"

namespace cambium::submatrix {

namespace {

std::vector<int> atom_of_function(const CellBasis& basis) {
  std::vector<int> out;
  for (std::size_t a = 0; a < basis.atom_functions.size(); ++a)
    out.insert(out.end(), static_cast<std::size_t>(basis.atom_functions[a]), static_cast<int>(a));
  return out;
}

/// Block sizes and, per function, its block and its index in the block. Blocks are ordered by their first atom.
struct Cut {
  std::vector<int> size, block_of_function, place;
  std::vector<std::vector<BlockAtom>> atoms;
  std::vector<std::array<double, 3>> centres;  ///< positions of the blocks' first atoms, which are never moved
};

Cut cut_into_blocks(const CellBasis& basis, BlockKind kind) {
  Cut out;
  std::map<int, int> block_of_molecule;
  for (std::size_t a = 0; a < basis.atom_functions.size(); ++a) {
    const int key = kind == BlockKind::atom ? static_cast<int>(a) : basis.molecule[a];
    const auto [found, is_new] = block_of_molecule.emplace(key, static_cast<int>(out.size.size()));
    if (is_new) {
      out.size.push_back(0);
      out.atoms.emplace_back();
      if (!basis.position.empty()) out.centres.push_back(basis.position[a]);
    }
    const auto block = static_cast<std::size_t>(found->second);
    for (int f = 0; f < basis.atom_functions[a]; ++f) {
      out.block_of_function.push_back(found->second);
      out.place.push_back(out.size[block]++);
    }
    out.atoms[block].push_back(
        {basis.number.empty() ? 0 : basis.number[a], basis.atom_functions[a], static_cast<int>(a)});
  }
  return out;
}

/// Lattice vector by which each atom must move to unwrap its molecule.
std::vector<Cell> shifts_of_atoms(const CellBasis& basis, const std::vector<LatticeEntry>& overlap) {
  const auto atom = atom_of_function(basis);
  std::map<int, int> anchor;  // first atom of each molecule
  for (std::size_t a = 0; a < basis.molecule.size(); ++a) anchor.emplace(basis.molecule[a], static_cast<int>(a));
  std::vector<std::map<Cell, double>> strength(basis.molecule.size());
  for (const auto& entry : overlap) {
    const auto i = static_cast<std::size_t>(atom[entry.row]), j = static_cast<std::size_t>(atom[entry.column]);
    if (i != j && anchor.at(basis.molecule[j]) == static_cast<int>(i))
      strength[j][entry.cell] += entry.value * entry.value;
  }
  std::vector<Cell> shift(basis.molecule.size(), Cell{0, 0, 0});
  for (std::size_t a = 0; a < shift.size(); ++a) {
    double best = 0.0;
    for (const auto& [cell, value] : strength[a])
      if (value > best * (1.0 + 1e-9)) best = value, shift[a] = cell;
  }
  return shift;
}

/// An atom moved by a lattice vector: the column's cell and the row's cell change.
void move(std::vector<LatticeEntry>& entries, const std::vector<int>& atom, const std::vector<Cell>& shift) {
  for (auto& entry : entries)
    for (std::size_t k = 0; k < 3; ++k) entry.cell[k] += shift[atom[entry.row]][k] - shift[atom[entry.column]][k];
}

int wrap(int value, int period) { return ((value % period) + period) % period; }

}  // namespace

CellMatrix::CellMatrix(const std::vector<LatticeEntry>& entries, const std::vector<int>& block_of_function,
                       const std::vector<int>& place_in_block, const BlockLayout& layout)
    : columns_(static_cast<std::size_t>(layout.blocks())) {
  std::map<std::tuple<int, Cell, int>, std::size_t> at;
  for (const auto& entry : entries) {
    const int row = block_of_function[entry.row], column = block_of_function[entry.column];
    const auto [found, is_new] = at.emplace(std::tuple(column, entry.cell, row), values_.size());
    if (is_new) values_.resize(values_.size() + static_cast<std::size_t>(layout.size(row) * layout.size(column)), 0.0);
    const int i = place_in_block[entry.row], j = place_in_block[entry.column];
    values_[found->second + static_cast<std::size_t>(i * layout.size(column) + j)] += entry.value;
  }
  for (const auto& [key, place] : at) columns_[std::get<0>(key)].push_back({std::get<1>(key), std::get<2>(key), place});
}

CellSystem make_cell(const CellBasis& basis, std::vector<LatticeEntry> hamiltonian, std::vector<LatticeEntry> overlap,
                     BlockKind kind, bool mend_molecules, std::vector<LatticeEntry> hamiltonian_down) {
  CellSystem out;
  const auto atom = atom_of_function(basis);
  if (mend_molecules && kind == BlockKind::molecule) {
    const auto shift = shifts_of_atoms(basis, overlap);
    const auto moved = std::count_if(shift.begin(), shift.end(), [](const Cell& c) { return c != Cell{0, 0, 0}; });
    if (moved > 0) {
      move(hamiltonian, atom, shift);
      move(overlap, atom, shift);
      move(hamiltonian_down, atom, shift);
      out.notes.push_back(
          fmt::format("{} atom{} of wrapped molecules moved by lattice vectors, so that molecules are whole", moved,
                      moved == 1 ? "" : "s"));
    }
  }
  const Cut cut = cut_into_blocks(basis, kind);
  out.layout = std::make_shared<const BlockLayout>(cut.size);
  out.block_atoms = cut.atoms;
  out.centres = cut.centres;
  out.vectors = basis.vectors;
  out.hamiltonian.emplace(hamiltonian, cut.block_of_function, cut.place, *out.layout);
  out.overlap.emplace(overlap, cut.block_of_function, cut.place, *out.layout);
  if (!hamiltonian_down.empty())
    out.hamiltonian_down.emplace(hamiltonian_down, cut.block_of_function, cut.place, *out.layout);
  out.electrons = basis.electrons;
  out.atoms = static_cast<int>(basis.atom_functions.size());
  return out;
}

namespace {

/// Block indices of a supercell.
struct Numbering {
  Cell n;
  int blocks;  ///< per cell
  int cells() const { return n[0] * n[1] * n[2]; }
  Cell cell_of(int column) const {
    const int c = column / blocks;
    return {c / (n[1] * n[2]), c / n[2] % n[1], c % n[2]};
  }
  int of(const Cell& cell, int block) const {
    return ((wrap(cell[0], n[0]) * n[1] + wrap(cell[1], n[1])) * n[2] + wrap(cell[2], n[2])) * blocks + block;
  }
};

std::array<double, 3> moved_by(const Cell& cell, const std::array<std::array<double, 3>, 3>& vectors,
                               std::array<double, 3> x) {
  for (std::size_t v = 0; v < 3; ++v)
    for (std::size_t k = 0; k < 3; ++k) x[k] += cell[v] * vectors[v][k];
  return x;
}

/// One block column: terms that fall on the same block (a supercell smaller than the range) add up.
void assemble_column(const CellMatrix& matrix, const BlockLayout& cell_layout, const Numbering& numbering, int column,
                     BlockColumns& out) {
  const int own = column % numbering.blocks;
  const Cell here = numbering.cell_of(column);
  std::vector<std::pair<int, const CellMatrix::Term*>> terms;
  for (const auto& term : matrix.column(own)) {
    const Cell row_cell{here[0] - term.cell[0], here[1] - term.cell[1], here[2] - term.cell[2]};
    terms.emplace_back(numbering.of(row_cell, term.row), &term);
  }
  std::stable_sort(terms.begin(), terms.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  out.start_column(column);
  double* block = nullptr;
  for (std::size_t t = 0; t < terms.size(); ++t) {
    if (t == 0 || terms[t].first != terms[t - 1].first) block = out.add_block(terms[t].first);
    const int size = cell_layout.size(terms[t].second->row) * cell_layout.size(own);
    const double* values = matrix.values(*terms[t].second);
    for (int k = 0; k < size; ++k) block[k] += values[k];
  }
}

BlockColumns assemble(const CellMatrix& matrix, const CellSystem& cell, const Numbering& numbering,
                      const MatrixSystem& system, int rank) {
  BlockColumns out(system.layout);
  for (int column = system.ranges.begin(rank); column < system.ranges.end(rank); ++column)
    assemble_column(matrix, *cell.layout, numbering, column, out);
  out.finish();
  return out;
}

/// Bytes of the values of one cell's block columns.
double bytes_of(const CellMatrix& matrix, const BlockLayout& layout) {
  double numbers = 0.0;
  for (int b = 0; b < layout.blocks(); ++b)
    for (const auto& term : matrix.column(b)) numbers += static_cast<double>(layout.size(term.row)) * layout.size(b);
  return sizeof(double) * numbers;
}

/// Checks limits before allocation: block indices are 32-bit integers, H and S are distributed over the ranks.
void require_room(const CellSystem& cell, Cell n, const Comm& comm) {
  const auto blocks = product_of({n[0], n[1], n[2], cell.layout->blocks()});
  if (!blocks || *blocks > std::numeric_limits<int>::max())
    throw InputError(fmt::format(
        "a supercell of {} x {} x {} cells has more blocks than can be counted; give fewer copies", n[0], n[1], n[2]));
  double bytes = bytes_of(*cell.hamiltonian, *cell.layout) + bytes_of(*cell.overlap, *cell.layout);
  if (cell.hamiltonian_down) bytes += bytes_of(*cell.hamiltonian_down, *cell.layout);
  bytes *= static_cast<double>(*blocks) / cell.layout->blocks();
  require_memory(bytes / comm.size(),
                 fmt::format("the matrices of a supercell of {} x {} x {} cells", n[0], n[1], n[2]),
                 "give fewer copies in 'supercell', or use more nodes", comm);
}

}  // namespace

MatrixSystem supercell(const CellSystem& cell, Cell n, const Comm& comm) {
  require_room(cell, n, comm);
  const Numbering numbering{n, cell.layout->blocks()};
  std::vector<int> sizes;
  std::vector<double> cost;
  std::vector<std::array<double, 3>> centres;
  for (int c = 0; c < numbering.cells(); ++c)
    for (int b = 0; b < numbering.blocks; ++b) {
      sizes.push_back(cell.layout->size(b));
      // The work on a column grows like the square of its submatrix, which the reach of the overlap predicts.
      if (!cell.centres.empty())
        centres.push_back(moved_by(numbering.cell_of(c * numbering.blocks), cell.vectors, cell.centres[b]));
      const double terms = static_cast<double>(cell.overlap->column(b).size());
      cost.push_back(terms * terms * cell.layout->size(b));
    }
  auto layout = std::make_shared<const BlockLayout>(std::move(sizes));
  MatrixSystem out{
      layout, ColumnRanges::balanced(cost, comm.size()), BlockColumns(layout), BlockColumns(layout), 0, 0.0, {}, {}, {},
      {}};
  out.hamiltonian = assemble(*cell.hamiltonian, cell, numbering, out, comm.rank());
  out.overlap = assemble(*cell.overlap, cell, numbering, out, comm.rank());
  if (cell.hamiltonian_down) out.hamiltonian_down = assemble(*cell.hamiltonian_down, cell, numbering, out, comm.rank());
  out.atoms = static_cast<std::int64_t>(cell.atoms) * numbering.cells();
  out.electrons = cell.electrons * numbering.cells();
  out.block_atoms = cell.block_atoms;
  out.notes = cell.notes;
  out.centres = std::move(centres);
  return out;
}

}  // namespace cambium::submatrix
