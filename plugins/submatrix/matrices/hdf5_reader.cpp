#include "plugins/submatrix/matrices/hdf5_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "core/base/error.hpp"
#include "core/io/hdf5/h5.hpp"
#include "plugins/submatrix/matrices/checks.hpp"
#include "plugins/submatrix/matrices/text_elements.hpp"

namespace cambium::submatrix {

namespace {

struct Csr {
  std::vector<std::int64_t> indptr;
  std::vector<int> indices;
  std::vector<double> data;
};

Csr read_csr(const io::Group& group, int rows) {
  Csr out{group.read<std::vector<std::int64_t>>("indptr"), group.read<std::vector<int>>("indices"),
          group.read<std::vector<double>>("data")};
  const auto entries = static_cast<std::int64_t>(out.data.size());
  if (std::ssize(out.indptr) != rows + 1 || out.indptr.back() != entries || std::ssize(out.indices) != entries)
    throw InputError(
        fmt::format("{}: {} is no CSR matrix of {} rows: indptr has {} entries and ends at {}, indices {}, data {}; "
                    "was the file truncated?",
                    group.file(), group.path(), rows, out.indptr.size(), out.indptr.empty() ? 0 : out.indptr.back(),
                    out.indices.size(), out.data.size()));
  for (std::size_t row = 0; row + 1 < out.indptr.size(); ++row)
    if ((row == 0 && out.indptr[0] != 0) || out.indptr[row] > out.indptr[row + 1])
      throw InputError(fmt::format(
          "{}: {} is no CSR matrix: indptr goes from {} to {} in row {}, but must begin at 0 and never fall",
          group.file(), group.path(), out.indptr[row], out.indptr[row + 1], row));
  for (int column : out.indices)
    if (column < 0 || column >= rows)
      throw InputError(
          fmt::format("{}: {} has column {}, expected 0 to {}", group.file(), group.path(), column, rows - 1));
  return out;
}

/// Reads positions, which are used for grouping by space only.
void read_positions(const io::File& file, CellBasis& basis) {
  const auto x = file.read<std::vector<double>>("coordinates_angstrom"),
             v = file.read<std::vector<double>>("cell_angstrom");
  if (x.size() != 3 * basis.atom_functions.size() || v.size() != 9)
    throw InputError(fmt::format("{}: coordinates_angstrom has {} values and cell_angstrom {}; {} atoms need {} and 9",
                                 file.file(), x.size(), v.size(), basis.atom_functions.size(),
                                 3 * basis.atom_functions.size()));
  for (std::size_t a = 0; a < basis.atom_functions.size(); ++a)
    basis.position.push_back({x[3 * a], x[3 * a + 1], x[3 * a + 2]});
  for (std::size_t k = 0; k < 9; ++k) basis.vectors[k / 3][k % 3] = v[k];
}

CellBasis read_basis(const io::File& file) {
  CellBasis basis;
  basis.atom_functions = file.read<std::vector<int>>("block_sizes_atom");
  basis.molecule = file.read<std::vector<int>>("molecule_of_atom");
  if (file.exists("atomic_numbers")) basis.number = file.read<std::vector<int>>("atomic_numbers");
  for (const char* name : {"n_electrons_per_cell", "n_electrons"})
    if (file.has_attribute(name)) basis.electrons = file.attribute<double>(name);
  std::int64_t functions = 0;
  for (int n : basis.atom_functions) {
    if (n < 1)
      throw InputError(
          fmt::format("{}: block_sizes_atom has an atom of {} functions, expected 1 or more", file.file(), n));
    functions += n;
  }
  if (functions < 1 || functions >= std::numeric_limits<int>::max())
    throw InputError(fmt::format("{}: block_sizes_atom adds up to {} functions, expected 1 to {}", file.file(),
                                 functions, std::numeric_limits<int>::max() - 1));
  if (!basis.number.empty() && basis.number.size() != basis.atom_functions.size())
    throw InputError(fmt::format("{}: atomic_numbers has {} entries, block_sizes_atom {}; they must agree", file.file(),
                                 basis.number.size(), basis.atom_functions.size()));
  if (file.exists("coordinates_angstrom") && file.exists("cell_angstrom")) read_positions(file, basis);
  if (basis.molecule.size() != basis.atom_functions.size())
    throw InputError(fmt::format("{}: molecule_of_atom has {} entries, block_sizes_atom {}; they must agree",
                                 file.file(), basis.molecule.size(), basis.atom_functions.size()));
  return basis;
}

/// Elements of one cell of a pair +R, -R, with those of the other cell.
void append(const Csr& csr, const Cell& cell, bool mirror, std::vector<LatticeEntry>& out) {
  const Cell opposite{-cell[0], -cell[1], -cell[2]};
  for (int row = 0; row + 1 < std::ssize(csr.indptr); ++row)
    for (auto k = static_cast<std::size_t>(csr.indptr[row]);
         k < static_cast<std::size_t>(csr.indptr[static_cast<std::size_t>(row) + 1]); ++k) {
      out.push_back({cell, row, csr.indices[k], csr.data[k]});
      if (mirror && !(cell == opposite && csr.indices[k] == row))
        out.push_back({opposite, csr.indices[k], row, csr.data[k]});
    }
}

/// Both triangles, or the upper one only?
bool only_upper(const Csr& csr) {
  for (int row = 0; row + 1 < std::ssize(csr.indptr); ++row)
    for (auto k = csr.indptr[row]; k < csr.indptr[static_cast<std::size_t>(row) + 1]; ++k)
      if (csr.indices[k] < row) return false;
  return true;
}

std::vector<LatticeEntry> read_matrix(const io::File& file, const std::string& name, int functions) {
  std::vector<LatticeEntry> out;
  if (!file.exists("R")) {
    const Csr csr = read_csr(file.group(name), functions);
    append(csr, {0, 0, 0}, only_upper(csr), out);
    sum_duplicates(out);  // as SciPy takes a CSR matrix
    return out;
  }
  const auto cells = file.read<std::vector<int>>("R");
  if (cells.empty() || cells.size() % 3 != 0)
    throw InputError(fmt::format("{}: R holds {} values, expected three for each cell", file.file(), cells.size()));
  std::set<Cell> there;
  for (std::size_t q = 0; 3 * q < cells.size(); ++q)
    if (const Cell cell{cells[3 * q], cells[3 * q + 1], cells[3 * q + 2]}; !there.insert(cell).second)
      throw InputError(
          fmt::format("{}: R holds the cell ({} {} {}) twice; expected once", file.file(), cell[0], cell[1], cell[2]));
  for (std::size_t q = 0; 3 * q < cells.size(); ++q) {
    const Cell cell{cells[3 * q], cells[3 * q + 1], cells[3 * q + 2]};
    // If both cells of a pair are stored, neither is mirrored.
    const bool mirror = there.count({-cell[0], -cell[1], -cell[2]}) == 0;
    append(read_csr(file.group(fmt::format("R_{:02}/{}", q, name)), functions), cell, mirror, out);
  }
  sum_duplicates(out);
  return out;
}

}  // namespace

CellSystem read_hdf5_cell(const std::string& path, BlockKind kind) {
  const io::File file = io::File::open(path);
  const CellBasis basis = read_basis(file);
  const int functions = std::accumulate(basis.atom_functions.begin(), basis.atom_functions.end(), 0);
  for (const char* name : {"n_basis_per_cell", "n_basis"})
    if (file.has_attribute(name) && file.attribute<int>(name) != functions)
      throw InputError(
          fmt::format("{}: the blocks of block_sizes_atom add up to {} functions, but the matrices have {} rows ({})",
                      path, functions, file.attribute<int>(name), name));
  auto hamiltonian = read_matrix(file, "K", functions), overlap = read_matrix(file, "S", functions);
  check_entries(path + ": K", hamiltonian);
  check_entries(path + ": S", overlap);
  std::vector<LatticeEntry> down;
  if (file.exists("K_down") || (file.exists("R_00") && file.exists("R_00/K_down"))) {
    down = read_matrix(file, "K_down", functions);
    check_entries(path + ": K_down", down);
  }
  return make_cell(basis, std::move(hamiltonian), std::move(overlap), kind, true, std::move(down));
}

Reference read_hdf5_reference(const std::string& path, Cell n) {
  const io::File file = io::File::open(path);
  Reference out;
  if (n == Cell{1, 1, 1} && file.has_attribute("ref_band_energy")) {
    out.band_energy = file.attribute<double>("ref_band_energy");
    out.homo = file.attribute<double>("homo");
    out.lumo = file.attribute<double>("lumo");
  }
  if (!file.exists("reference_nrep") || n[0] != n[1] || n[1] != n[2]) return out;
  const auto shape = file.dataset("reference_nrep").shape();
  const auto rows = file.read<std::vector<double>>("reference_nrep");
  if (shape.size() != 2 || shape[1] < 6)
    throw InputError(fmt::format("{}: reference_nrep has the shape ({}), expected rows of 6 or more values", path,
                                 fmt::join(shape, ", ")));
  for (std::size_t r = 0; r < rows.size(); r += static_cast<std::size_t>(shape[1])) {
    if (static_cast<int>(rows[r]) != n[0]) continue;
    out.band_energy = rows[r + 2];
    out.homo = rows[r + 4];
    out.lumo = rows[r + 5];
  }
  return out;
}

}  // namespace cambium::submatrix
